#: replace padding
# pad to a fixed length, because XLA recompiles the step for each new one
settings = {"padding": "max_length", "truncation": True, "max_length": max_length}
