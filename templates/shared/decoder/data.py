#: with decoder
#: replace eval_batch without eval_batch_size
# keep the last batch; the logits of a larger batch may not fit in memory
settings = {"batch_size": config.batch_size, "num_workers": config.num_workers}
