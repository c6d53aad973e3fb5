#: slot fixed
DATA_SETTINGS |= {"columns": None}
