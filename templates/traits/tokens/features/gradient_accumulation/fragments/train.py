from contextlib import nullcontext
from itertools import islice

#: replace batches
batches = iter(remaining_batches(accelerator, train_loader, progress, batches_per_epoch))
while window := list(islice(batches, config.gradient_accumulation_steps)):
    # counted ahead: each backward divides by the tokens of all batches of the update
    tokens = sum(count_tokens(targets).sum() for *_, targets in window)
    tokens = accelerator.reduce(tokens, "sum")
    for batch in window:
        # the processes exchange gradients once a window, with its last batch
        with nullcontext() if batch is window[-1] else accelerator.no_sync(model):
            ...  #: keep forward
            # backward: every token counts the same; gradients are averaged at the end
            accelerator.backward(losses.sum() * accelerator.num_processes / tokens)
    progress.batch += len(window)
    ...  #: keep update
