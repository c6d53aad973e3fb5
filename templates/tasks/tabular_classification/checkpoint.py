#: slot fixed when path=given
FIXED |= {"classes"}
