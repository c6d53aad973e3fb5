#: with many_labels
from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from lib.scores import label_scores

#: slot loss_function
def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,): the mean over the labels.

    Each label is a yes-or-no question, with binary cross-entropy.
    """
    return F.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean(dim=1)

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, macro F1 and average precision over the whole set.

    The average precision ranks all samples, so their logits are kept on the CPU until the end.
    gather_for_metrics drops the samples that pad the last batch.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        #: region logits
        logits = model({{ task.batch.split(",")[0] }})
        #: end logits
        values = accelerator.gather_for_metrics((compute_loss(logits, labels), logits, labels))
        batches.append([value.cpu() for value in values])
        #: slot evaluated_batch
    #: slot back_to_training
    losses, logits, labels = map(torch.cat, zip(*batches, strict=True))
    scores = label_scores(logits, labels)
    return {
        f"{name}_loss": float(losses.double().mean()),
        **{f"{name}_{score}": value for score, value in scores.items()}
        #: slot evaluated
    }
