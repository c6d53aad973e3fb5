from itertools import islice

import torch
import torch.nn.functional as F

#: slot evaluate_function
@torch.no_grad()
def evaluate(model, loader, accelerator, name: str, limit: int) -> dict[str, float]:
    """Mean loss and accuracy over the whole set, the same for any number of processes.

    gather_for_metrics cuts off the samples that only pad the last batches. It needs one value for
    each sample: average after it, never before.
    """
    model.eval()
    loss_sum = correct = seen = 0
    #: slot before_evaluation
    for rows, labels in islice(loader, limit or None):
        logits = model(rows)
        losses = F.cross_entropy(logits, labels, reduction="none")
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        correct += (predictions == labels).sum()
        seen += len(labels)
        #: slot evaluated_batch
    model.train()
    return {
        f"{name}_loss": float(loss_sum) / seen,
        f"{name}_accuracy": float(correct) / seen,
        #: slot evaluated
    }

#: slot forward
rows, labels = batch
#: region loss
loss = F.cross_entropy(
    model(rows), labels
    #: slot loss_arguments
)
#: end loss
train_loss.add(loss, len(labels))
