#: slot fixed
DATA_SETTINGS |= {"data_order": "shuffled"}
