from contextlib import nullcontext
from itertools import islice

#: replace batches
batches = iter(remaining_batches(accelerator, train_loader, progress, batches_per_epoch))
while window := list(islice(batches, config.gradient_accumulation_steps)):
    # counted ahead: each backward divides by the tokens of all batches of the update
    tokens = sum(count_tokens(targets).sum() for *_, targets in window)
    tokens = accelerator.reduce(tokens, "sum")
    #: slot counted_tokens
    for batch in window:
        #: region exchange
        # the processes exchange gradients once a window, with its last batch
        with nullcontext() if batch is window[-1] else accelerator.no_sync(model):
            #: region window_passes
            ...  #: keep forward
            #: region every_token
            # backward: every token counts the same; gradients are averaged at the end
            #: end every_token
            accelerator.backward(losses.sum() * accelerator.num_processes / tokens)
            #: end window_passes
        #: end exchange
    progress.batch += len(window)
    ...  #: keep update
