#: when project.task=image_classification|tabular_classification with labels
from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

#: slot loss_function
#: region compute_loss
def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,)."""
    return F.cross_entropy(logits, labels, reduction="none")


#: end compute_loss

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss and accuracy of all samples. gather_for_metrics drops the padding."""
    model.eval()
    loss_sum = correct = seen = 0
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        logits = model({{ task.batch.split(",")[0] }})
        losses = compute_loss(logits, labels)
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        correct += (predictions == labels).sum()
        seen += len(labels)
        #: slot evaluated_batch
    #: slot back_to_training
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_accuracy": float(correct) / seen
        #: slot evaluated
    }
