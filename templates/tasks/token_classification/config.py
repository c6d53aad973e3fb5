from data import tag_names

#: slot recorded with checkpoints
settings["tags"] = tag_names(config)

#: into checkpoint.py
#: slot fixed
"tags": "the model has an output for each",
