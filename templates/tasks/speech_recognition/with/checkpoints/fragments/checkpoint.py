#: slot fixed
DATA_SETTINGS |= {"letters": None}
