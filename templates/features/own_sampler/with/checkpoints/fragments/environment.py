#: slot recorded
settings["data_order"] = "own"
