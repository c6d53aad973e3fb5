#: slot fixed when labels=number
FIXED |= {"target_scale"}
