#: slot fixed
DATA_SETTINGS += ["classes"]
