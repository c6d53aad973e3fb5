from data import list_letters

#: slot recorded
settings["letters"] = list_letters(config)
