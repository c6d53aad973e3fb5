#: slot recorded
settings["data_order"] = "balanced"
