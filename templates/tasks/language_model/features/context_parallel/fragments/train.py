from context_parallel import gather_texts, share_texts

#: replace counted_once
Both are the same for any number of processes: gather_texts adds the parts of each text up and
cuts off those that only pad the last batches. The sums are divided by their number of tokens.

#: slot directions
cp_size={{ parallelism.cp_size | python }},  # so many share each text, and split the model among them, too

#: wrap passes
# each process of a group has a part of each text, and of its loss
with share_texts(accelerator, *batch) as (inputs, positions, targets):
    ...  #: body

#: replace unpack

#: replace every_token
# backward: every token counts the same; gradients are averaged

#: replace loss
losses = token_losses(model(inputs, positions), targets)

#: replace sums
with share_texts(accelerator, inputs, targets) as (inputs, positions, targets):
    losses = token_losses(model(inputs, positions), targets).sum(dim=1)
losses, tokens = gather_texts(accelerator, losses, count_tokens(targets))
