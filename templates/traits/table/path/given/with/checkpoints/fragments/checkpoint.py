#: slot fixed
FIXED |= {"columns": None}
