#: slot fixed
FIXED |= {"num_workers": 0, "stream_epoch_batches": None}
