#: slot fixed
FIXED |= {"max_length": None, "overlap": None}
