#: slot fixed
FIXED |= {"momentum"}
