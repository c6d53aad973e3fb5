from data import tag_names

#: slot recorded with checkpoints
settings["tags"] = tag_names(config)

#: into checkpoint.py
#: slot fixed
"tags": "the model has an output for each",

#: into evaluate.py
#: slot same_data with checkpoints
check_same("tags", accelerator, run)
