#: with decoder
#: replace eval_batch without eval_batch_size
"batch_size": config.batch_size,  # the logits of a larger batch may not fit in memory
