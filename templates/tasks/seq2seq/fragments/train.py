from itertools import islice

import torch
from metrics import IGNORED

#: slot evaluate_function
@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Mean loss of a token, and the share of sources whose target is generated without a fault.

    Both are the same for any number of processes: gather_for_metrics cuts off the samples that
    only pad the last batches, and what is summed of the rest is divided at the end.
    """
    model.eval()
    generate = accelerator.unwrap_model(model).generate
    loss_sum = tokens_seen = correct = seen = 0
    #: slot before_evaluation
    for sources, inputs, targets in islice(loader, limit or None):
        losses = token_losses(model(sources, inputs), targets).sum(dim=1)
        with accelerator.autocast():
            generated = generate(sources, targets.shape[1])
        right = ((generated == targets) | (targets == IGNORED)).all(dim=1)
        values = (losses, count_tokens(targets), right)
        losses, tokens, right = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        correct += right.sum()
        seen += len(right)
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(loss_sum / tokens_seen),
        f"{name}_exact_match": float(correct) / seen,
        #: slot evaluated
    }

#: slot forward
sources, inputs, targets = batch
#: region loss
losses = token_losses(model(sources, inputs), targets)
#: end loss
train_loss.add(losses, targets)
