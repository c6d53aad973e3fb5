from itertools import islice

import torch
from metrics import IGNORED

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss per token, and the fraction of targets that are generated without a mistake.

    Both are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Divide the sums after it, never before.
    """
    model.eval()
    generate = accelerator.unwrap_model(model).generate
    loss_sum = tokens_seen = correct = seen = 0
    #: slot before_evaluation
    for sources, inputs, targets in islice(loader, limit or None):
        losses = compute_loss(model(sources, inputs), targets).sum(dim=1)
        with accelerator.autocast():
            generated = generate(sources, targets.shape[1])
        matches = ((generated == targets) | (targets == IGNORED)).all(dim=1)
        values = (losses, count_tokens(targets), matches)
        losses, tokens, matches = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        correct += matches.sum()
        seen += len(matches)
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(loss_sum / tokens_seen),
        f"{name}_exact_match": float(correct) / seen,
        #: slot evaluated
    }

#: slot forward
#: region loss
losses = compute_loss(model(sources, inputs), targets)
#: end loss
train_loss.add(losses, targets)
