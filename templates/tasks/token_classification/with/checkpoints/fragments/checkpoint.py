#: slot fixed
FIXED |= {"tags"}
