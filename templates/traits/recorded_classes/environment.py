from data import class_names

#: slot recorded with checkpoints
settings["classes"] = class_names(config)
