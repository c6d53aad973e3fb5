#: slot fixed
FIXED |= {"letters"}
