#: slot fixed
DATA_SETTINGS |= {"gradient_accumulation_steps": 1}
