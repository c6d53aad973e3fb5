#: replace eval_batch
# keep the last batch
eval_batch_size = config.eval_batch_size or 4 * config.batch_size
settings = {"batch_size": eval_batch_size, "num_workers": config.num_workers}
