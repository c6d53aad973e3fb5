#: slot fixed
FIXED |= {"columns"}
