#: slot fixed
"num_workers": "each reads its own part of the stream",
"stream_epoch_batches": "it decides the batches",
