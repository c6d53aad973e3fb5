#: slot fixed
FIXED |= {"momentum": None}
