from data import class_names

#: slot recorded
settings["classes"] = class_names(config)
