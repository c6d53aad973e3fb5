#: slot fixed
FIXED |= {"max_length", "mask_rate", "whole_words"}
