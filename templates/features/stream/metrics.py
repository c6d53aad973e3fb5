#: replace epoch_batches
batches = min(config.stream_epoch_batches, config.limit_batches or config.stream_epoch_batches)
