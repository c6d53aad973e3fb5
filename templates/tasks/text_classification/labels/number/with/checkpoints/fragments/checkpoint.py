#: slot fixed
FIXED |= {"target_scale"}
