from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from data import class_names
from metrics import classification_scores, confusion_matrix

#: slot loss_function
#: region compute_loss
def compute_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The loss of each sample, shape (batch,)."""
    return F.cross_entropy(logits, labels, reduction="none")


#: end compute_loss

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name, limit=0) -> dict[str, float]:
    """Mean loss, accuracy, macro F1 and Matthews' correlation over the whole set.

    They are the same for any number of processes. gather_for_metrics drops the samples that pad
    the last batch. Average after gathering, never before.
    """
    model.eval()
    loss_sum = confusion = 0
    #: slot before_evaluation
    for batch in islice(loader, limit or None):
        labels = batch.pop("labels")
        logits = model(**batch).logits
        losses = compute_loss(logits, labels)
        predictions = logits.argmax(dim=-1)
        losses, predictions, labels = accelerator.gather_for_metrics((losses, predictions, labels))
        loss_sum += losses.sum()
        confusion += confusion_matrix(predictions, labels, classes=logits.shape[-1])
        #: slot evaluated_batch
    model.train()
    scores = classification_scores(confusion)
    return {
        f"{name}_loss": float(loss_sum / confusion.sum()),
        **{f"{name}_{score}": value for score, value in scores.items()}
        #: slot evaluated
    }

#: replace draw_confusion with confusion_matrix
confusion_plot.draw(config.output_dir / "confusion.png", class_names(config))
