#: slot fixed
FIXED |= {"classes"}
