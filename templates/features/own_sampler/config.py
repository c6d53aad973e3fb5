#: slot recorded with checkpoints
settings["data_order"] = "own"
