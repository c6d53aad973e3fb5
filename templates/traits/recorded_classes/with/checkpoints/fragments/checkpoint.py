#: slot fixed
DATA_SETTINGS |= {"classes": None}
