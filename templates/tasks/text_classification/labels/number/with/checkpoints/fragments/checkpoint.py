#: slot fixed
DATA_SETTINGS |= {"target_scale": None}
