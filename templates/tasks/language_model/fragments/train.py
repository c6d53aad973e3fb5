from itertools import islice

import torch
from callbacks import write_sample

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss per token of a whole set, and its exponential, the perplexity.

    #: region counted_once
    Both are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Divide the sums after gathering, never before.
    #: end counted_once
    """
    model.eval()
    loss_sum = tokens_seen = 0
    #: slot before_evaluation
    for inputs, targets in islice(loader, limit or None):
        #: region sums
        losses = compute_loss(model(inputs), targets).sum(dim=1)
        #: region gathered
        losses, tokens = accelerator.gather_for_metrics((losses, count_tokens(targets)))
        #: end gathered
        #: end sums
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        #: slot evaluated_batch
    model.train()
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
train_loss.add(losses, targets)

#: slot after_evaluation
#: region sample
if accelerator.is_main_process:
    path = config.output_dir / f"sample_{progress.step:08d}.txt"
    write_sample(accelerator.unwrap_model(model), config, path)
#: end sample
