#: slot fixed
FIXED |= {"tags": None}
