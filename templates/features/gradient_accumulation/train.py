from contextlib import nullcontext
from itertools import islice

from accelerate.utils import find_batch_size

#: replace batches
#: region gradient_accumulation
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
#: end gradient_accumulation

#: replace gradient_accumulation with gradient_accumulation with tokens
remaining = iter(bar)
while window := list(islice(remaining, config.gradient_accumulation_steps)):
    # each backward pass divides by the tokens of all batches of the step
    tokens = sum(count_tokens(targets).sum() for *_, targets in window)
    tokens = accelerator.reduce(tokens, "sum")
    #: slot counted_tokens
    for batch in window:
        #: region exchange
        # the processes exchange gradients with the last batch of a window
        with nullcontext() if batch is window[-1] else accelerator.no_sync(model):
            #: region window_passes
            #: region unpack
            {{ task.unpack }}
            #: end unpack
            ...  #: keep forward
            #: region every_token
            # each token counts the same; backward() averages over the processes
            #: end every_token
            accelerator.backward(losses.sum() * accelerator.num_processes / tokens)
            #: end window_passes
        #: end exchange
    progress.batch += len(window)
    ...  #: keep optimize
