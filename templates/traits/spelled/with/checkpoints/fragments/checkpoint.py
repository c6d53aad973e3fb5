#: slot fixed
FIXED |= {"letters": None}
