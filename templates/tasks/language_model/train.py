from itertools import islice

import torch
from context_parallel import gather_texts, share_texts
from tensor_parallel import processes_per_layer, share_layers

from callbacks import write_sample

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss per token of a whole set, and its exponential, the perplexity.

    #: region counted_once
    Both are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Divide the sums after gathering, never before.
    #: end counted_once
    """
    model.eval()
    loss_sum = tokens_seen = 0
    #: slot before_evaluation
    for inputs, targets in {{ task.batches }}:
        #: region sums
        losses = compute_loss(model(inputs), targets).sum(dim=1)
        #: region gathered
        losses, tokens = accelerator.gather_for_metrics((losses, count_tokens(targets)))
        #: end gathered
        #: end sums
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        #: slot evaluated_batch
    #: slot back_to_training
    loss = loss_sum / tokens_seen
    return {
        f"{name}_loss": float(loss),
        f"{name}_perplexity": float(loss.exp())
        #: slot evaluated
    }

#: slot forward
#: region loss
losses = compute_loss(model(inputs), targets)
#: end loss
#: region add_loss
train_loss.add(losses, targets)
#: end add_loss

#: slot after_evaluation
#: region sample
if accelerator.is_main_process:
    path = config.output_dir / f"sample_{progress.step:08d}.txt"
    write_sample(accelerator.unwrap_model(model), config, path)
#: end sample

#: replace counted_once with context_parallel
Both are the same for any number of processes. gather_texts adds up the parts of each text and
drops the texts that pad the last batch. Divide the sums after gathering, never before.

#: slot directions with context_parallel
cp_size={{ parallelism.cp_size | python }},  # processes that share each text and the model

#: wrap passes with context_parallel
# each process of a group has a part of each text and of its loss
with share_texts(accelerator, inputs, targets) as (inputs, positions, targets):
    ...  #: body

#: replace every_token with context_parallel
# each token counts the same; the processes average their gradients

#: replace loss with context_parallel
losses = compute_loss(model(inputs, positions), targets)

#: replace sums with context_parallel
with share_texts(accelerator, inputs, targets) as (inputs, positions, targets):
    losses = compute_loss(model(inputs, positions), targets).sum(dim=1)
losses, tokens = gather_texts(accelerator, losses, count_tokens(targets))

#: replace sample with deepspeed
# run on all processes: each one holds a shard of the weights
path = config.output_dir / f"sample_{progress.step:08d}.txt"
write_sample(model, config, path)

#: replace sample with fsdp
# run on all processes: each one holds a shard of the weights
path = config.output_dir / f"sample_{progress.step:08d}.txt"
write_sample(model, config, path)

#: slot directions with tensor_parallel
tp_size={{ parallelism.tp_size | python }},  # processes that share each layer and read the same texts

#: replace shared_layers with tensor_parallel
share_layers(accelerator, model)

#: replace own_dropout with tensor_parallel
# each process gets its own dropout; those that share layers get the same
set_seed(config.seed + accelerator.process_index // processes_per_layer(accelerator))

#: slot before_epoch when fill_in_middle=psm|spm
train_loader.dataset.set_epoch(epoch)  # different middles in each epoch
