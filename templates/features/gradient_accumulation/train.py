from contextlib import nullcontext

from accelerate.utils import GradientAccumulationPlugin

#: slot accelerator without tokens
gradient_accumulation_plugin=GradientAccumulationPlugin(
    num_steps=config.gradient_accumulation_steps, sync_with_dataloader=False
),

#: wrap passes without tokens
with accelerator.accumulate(model):
    ...  #: body

#: slot after_passes without tokens
progress.batch += 1
if not accelerator.sync_gradients:
    continue

#: replace count_batch without tokens

#: replace batches with tokens
iterator = iter(bar)
while window := list(islice(iterator, config.gradient_accumulation_steps)):
    ...  #: keep finished
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

#: replace count_batch with tokens
