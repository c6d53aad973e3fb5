from contextlib import nullcontext
from itertools import islice

from accelerate.utils import find_batch_size

#: replace batches
remaining = iter(bar)
while window := list(islice(remaining, config.gradient_accumulation_steps)):
    window_size = sum(find_batch_size(batch) for batch in window)
    for batch in window:
        # the processes exchange gradients with the last batch of a window
        with nullcontext() if batch is window[-1] else accelerator.no_sync(model):
            {{ task.unpack }}
            ...  #: keep forward
            # every sample has the same weight, even in a shorter last window
            accelerator.backward(loss * (find_batch_size(batch) / window_size))
    progress.batch += len(window)
    ...  #: keep optimize
