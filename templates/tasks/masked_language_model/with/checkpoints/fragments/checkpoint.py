#: slot fixed
FIXED |= {"max_length": None, "mask_rate": None, "whole_words": None}
