#: slot fixed
FIXED |= {"num_workers", "stream_epoch_batches"}
