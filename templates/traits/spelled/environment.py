from data import list_letters

#: slot recorded with checkpoints
settings["letters"] = list_letters(config)
