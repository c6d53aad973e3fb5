#: slot fixed
DATA_SETTINGS |= {"num_workers": 0, "stream_epoch_batches": None}
