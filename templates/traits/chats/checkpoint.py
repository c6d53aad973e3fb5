#: slot fixed
FIXED |= {"context"}
