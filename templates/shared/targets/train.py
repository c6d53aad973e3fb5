from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lib.scores import label_scores

#: slot loss_function when project.task=image_classification|tabular_classification with labels
#: region compute_loss
def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,)."""
    return F.cross_entropy(logits, labels, reduction="none")


#: end compute_loss

#: slot evaluate_function when project.task=image_classification|tabular_classification with labels
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

#: slot loss_function with many_labels
def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,): the mean over the labels.

    Each label is a yes-or-no question, with binary cross-entropy.
    """
    return F.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean(dim=1)

#: slot evaluate_function with many_labels
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

#: slot loss_function with numbers
def compute_loss(predictions: Tensor, targets: Tensor, scale: nn.Module) -> Tensor:
    """The loss of each sample, shape (batch,), the same for targets in any unit.

    It is the squared error in standard deviations of the training targets.
    """
    return F.mse_loss(scale(predictions), scale(targets), reduction="none")

#: slot evaluate_function with numbers
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss, RMSE and MAE in the unit of the targets, and R² of a whole set.

    They are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Average after gathering, never before.
    """
    model.eval()
    #: region scale
    scale = accelerator.unwrap_model(model).scale
    #: end scale
    sums = seen = 0
    #: slot before_evaluation
    for {{ task.batch }} in {{ task.batches }}:
        #: region gathered
        predictions, targets = accelerator.gather_for_metrics((model({{ task.batch.split(",")[0] }}), targets))
        #: end gathered
        losses, errors = compute_loss(predictions, targets, scale), (predictions - targets).abs()
        scaled = scale(targets)
        sums += torch.stack([losses, errors, scaled, scaled.square()]).sum(dim=1)
        seen += len(targets)
        #: slot evaluated_batch
    #: slot back_to_training
    loss, error, mean, mean_square = (sums / seen).tolist()
    variance = mean_square - mean**2
    equal = variance <= 1e-6 * mean_square  # R² is not defined for targets that are all equal
    return {
        f"{name}_loss": loss,
        f"{name}_rmse": loss**0.5 * float(scale.std),
        f"{name}_mae": error,
        f"{name}_r2": 0.0 if equal else 1 - loss / variance,
    }
