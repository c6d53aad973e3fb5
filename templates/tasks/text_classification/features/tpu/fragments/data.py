#: replace padding
# always the same length, because XLA compiles the step for each new one
settings = {"padding": "max_length", "truncation": True, "max_length": max_length}
