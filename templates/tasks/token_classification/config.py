from data import tag_names

#: slot recorded with checkpoints
settings["tags"] = tag_names(config)
