#: slot fixed
DATA_SETTINGS += ["num_workers"]
