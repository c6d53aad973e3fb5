#: slot estimator
distribution={"torch_distributed": {"enabled": True}},  # one process per GPU
