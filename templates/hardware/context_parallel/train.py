from context_parallel import processes_per_text, share_texts

#: slot counted_tokens with gradient_accumulation
tokens = tokens / processes_per_text(accelerator)  # all processes of a text counted it

#: replace exchange with gradient_accumulation
# gradients are exchanged once per window, with its last batch; each process of a
# group has a part of each text, and of its loss
with (
    nullcontext() if batch is window[-1] else accelerator.no_sync(model),
    share_texts(accelerator, *batch) as (inputs, positions, targets),
):
    ...  #: keep window_passes

#: replace unpack with gradient_accumulation
