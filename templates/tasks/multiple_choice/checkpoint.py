#: slot fixed
FIXED |= {"max_length"}
