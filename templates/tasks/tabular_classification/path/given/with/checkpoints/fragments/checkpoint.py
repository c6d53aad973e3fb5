#: slot fixed
FIXED |= {"classes": None}
