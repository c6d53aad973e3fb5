#: slot fixed
FIXED |= {"context": None}
