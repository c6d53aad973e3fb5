#: slot fixed
DATA_SETTINGS |= {"tags": None}
