#: slot fixed
DATA_SETTINGS |= {"processes_per_text": 1}
