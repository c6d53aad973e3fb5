#: slot fixed
DATA_SETTINGS |= {"processes_per_layer": 1}
