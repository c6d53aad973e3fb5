from context_parallel import gather_texts, share_texts

#: replace counted_once
Both are the same for any number of processes. gather_texts adds up the parts of each text and
drops the texts that pad the last batch. Divide the sums after gathering, never before.

#: slot directions
cp_size={{ parallelism.cp_size | python }},  # processes that share each text and the model

#: wrap passes
# each process of a group has a part of each text and of its loss
with share_texts(accelerator, inputs, targets) as (inputs, positions, targets):
    ...  #: body

#: replace every_token
# each token counts the same; the processes average their gradients

#: replace loss
losses = compute_loss(model(inputs, positions), targets)

#: replace sums
with share_texts(accelerator, inputs, targets) as (inputs, positions, targets):
    losses = compute_loss(model(inputs, positions), targets).sum(dim=1)
losses, tokens = gather_texts(accelerator, losses, count_tokens(targets))
