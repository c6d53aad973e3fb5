from itertools import islice
from textwrap import indent

import torch

from data import show

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss and accuracy per token of the answers, and the fraction of exact conversations.

    A conversation is exact if greedy decoding writes all its answers without a mistake. One pass
    is enough to check this: each token must be the most likely one after the true tokens before it.

    gather_for_metrics drops the samples that pad the last batch. Divide the sums after gathering.
    """
    model.eval()
    loss_sum = tokens_seen = right = exact = seen = 0
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        logits = model({{ task.batch.rpartition(",")[0] }})
        values = score(logits, targets)
        losses, tokens, hits = accelerator.gather_for_metrics(values)
        loss_sum += losses.sum()
        tokens_seen += tokens.sum()
        right += hits.sum()
        exact += (hits == tokens).sum()
        seen += len(hits)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum / tokens_seen),
        f"{name}_token_accuracy": float(right / tokens_seen),
        f"{name}_exact_match": float(exact) / seen
        #: slot evaluated
    }


def score(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The summed loss of each sample, its counted tokens, and how many are predicted correctly."""
    losses = compute_loss(logits, targets).sum(dim=1)
    hits = (logits.argmax(dim=-1) == targets).sum(dim=1)  # IGNORED is never the most likely
    return losses, count_tokens(targets), hits

#: slot before_prepare
accelerator.print("The first sample, with [[the tokens that count]]:")
accelerator.print(indent(show(train_loader.dataset[0], config), "> ", lambda line: True))

#: slot before_prepare when project.loop=complete
rows = range(min(3, len(val_loader.dataset)))
examples = [val_loader.dataset[row] for row in rows]  # answered after each evaluation

#: slot forward
#: region loss
losses = compute_loss(model({{ task.batch.rpartition(",")[0] }}), targets)
#: end loss
#: region add_loss
train_loss.add(losses, targets)
#: end add_loss
