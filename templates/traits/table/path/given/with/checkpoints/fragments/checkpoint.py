#: slot fixed
DATA_SETTINGS += ["columns"]
