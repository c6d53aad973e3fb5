#: replace padding
# always to the same length: XLA compiles the loop again for each new one
settings = {"padding": "max_length", "truncation": True, "max_length": max_length}
