import torch
from torch import Tensor

from data import VOID

#: slot classes
def count_pixels(predictions: Tensor, masks: Tensor, classes: int) -> Tensor:
    """The right, true and predicted pixels of each class, shape (batch, 3, classes). No VOID."""
    known = masks != VOID
    counts = []
    for label in range(classes):
        true, predicted = masks == label, (predictions == label) & known
        pixels = torch.stack([true & predicted, true, predicted], dim=1)
        counts.append(pixels.sum(dim=(2, 3)))
    return torch.stack(counts, dim=2)


def segmentation_scores(counts: Tensor) -> dict[str, float]:
    """Mean IoU and accuracy from counts summed over images, shape (3, classes).

    Mean IoU averages intersection over union over the classes that occur or are predicted:
    Everingham and others 2015, https://doi.org/10.1007/s11263-014-0733-5
    """
    right, true, predicted = counts.cpu().double()
    union = true + predicted - right
    occurs = union > 0
    return {
        "mean_iou": float((right[occurs] / union[occurs]).mean()),
        "pixel_accuracy": float(right.sum() / true.sum()),
    }
