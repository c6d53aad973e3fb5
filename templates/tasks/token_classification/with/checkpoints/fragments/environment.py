from data import tag_names

#: slot recorded
settings["tags"] = tag_names(config)
