#: slot fixed
FIXED |= {"gradient_accumulation_steps"}
