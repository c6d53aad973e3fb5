#: slot fixed when path=given
FIXED |= {"columns"}
