#: slot fixed
FIXED |= {"processes_per_text"}
