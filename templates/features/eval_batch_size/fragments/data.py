#: replace eval_batch
settings = {"batch_size": config.eval_batch_size, "num_workers": config.num_workers}
