from itertools import islice

import torch
from callbacks import write_sample

#: slot evaluate_function
@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Mean loss of a token over the whole set, and the perplexity, which is its exponential.

    #: region counted_once
    Both are the same for any number of processes: gather_for_metrics cuts off the samples that
    only pad the last batches, and the sums of the rest are divided by their number of tokens.
    #: end counted_once
    """
    model.eval()
    loss_sum = seen = 0
    #: slot before_evaluation
    for inputs, targets in islice(loader, limit or None):
        #: region sums
        losses = token_losses(model(inputs), targets).sum(dim=1)
        #: region gathered
        losses, tokens = accelerator.gather_for_metrics((losses, count_tokens(targets)))
        #: end gathered
        #: end sums
        loss_sum += losses.sum()
        seen += tokens.sum()
        #: slot evaluated_batch
    model.train()
    loss = loss_sum / seen
    return {
        f"{name}_loss": float(loss),
        f"{name}_perplexity": float(loss.exp()),
        #: slot evaluated
    }

#: slot forward
#: region unpack
inputs, targets = batch
#: end unpack
#: region loss
losses = token_losses(model(inputs), targets)
#: end loss
train_loss.add(losses, targets)

#: slot after_evaluation
#: region sample
if accelerator.is_main_process:
    path = config.output_dir / f"sample_{progress.update:06d}.txt"
    write_sample(accelerator.unwrap_model(model), config, path)
#: end sample
