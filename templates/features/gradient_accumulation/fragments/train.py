from contextlib import nullcontext
from itertools import islice

from accelerate.utils import find_batch_size

#: replace batches
batches = iter(remaining_batches(accelerator, train_loader, progress, batches_per_epoch))
while window := list(islice(batches, config.gradient_accumulation_steps)):
    window_size = sum(find_batch_size(batch) for batch in window)
    for batch in window:
        # the processes exchange gradients once a window, with its last batch
        with nullcontext() if batch is window[-1] else accelerator.no_sync(model):
            ...  #: keep forward
            # backward: every sample counts the same, also where the last window is shorter
            accelerator.backward(loss * (find_batch_size(batch) / window_size))
    progress.batch += len(window)
    ...  #: keep update
