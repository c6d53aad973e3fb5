#: slot fixed
DATA_SETTINGS |= {"max_length": None}
