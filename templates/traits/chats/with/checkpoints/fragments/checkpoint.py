#: slot fixed
DATA_SETTINGS |= {"context": None}
