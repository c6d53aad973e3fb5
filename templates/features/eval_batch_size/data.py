#: replace eval_batch
"batch_size": config.eval_batch_size or 4 * config.batch_size,
