#: slot estimator
distribution={"torch_distributed": {"enabled": True}},  # a process for each GPU
