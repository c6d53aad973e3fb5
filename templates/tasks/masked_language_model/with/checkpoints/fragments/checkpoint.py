#: slot fixed
DATA_SETTINGS |= {"max_length": None, "mask_rate": None, "whole_words": None}
