from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from data import VOID
from metrics import count_pixels, segmentation_scores
from pictures import draw_masks

#: slot loss_function
#: region compute_loss
def compute_loss(logits: Tensor, masks: Tensor) -> Tensor:
    """The mean loss of the pixels of each image that are not VOID, shape (batch,)."""
    losses = F.cross_entropy(logits, masks, ignore_index=VOID, reduction="none")
    known = (masks != VOID).sum(dim=(1, 2))
    return losses.sum(dim=(1, 2)) / known.clamp(min=1)


#: end compute_loss

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of all images, mean IoU and accuracy of all their pixels.

    gather_for_metrics drops the images that pad the last batch. Counts are summed over all
    images before dividing.
    """
    model.eval()
    loss_sum = counts = seen = 0
    #: slot before_evaluation
    for images, masks in {{ task.batches }}:
        losses, pixels = accelerator.gather_for_metrics(score(model(images), masks))
        loss_sum += losses.sum()
        counts += pixels.sum(dim=0)
        seen += len(losses)
        #: slot evaluated_batch
    #: slot back_to_training
    scores = segmentation_scores(counts)
    return {
        f"{name}_loss": float(loss_sum) / seen,
        **{f"{name}_{key}": value for key, value in scores.items()}
        #: slot evaluated
    }


def score(logits: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of each image, and its pixels as count_pixels() counts them."""
    counts = count_pixels(logits.argmax(dim=1), masks, classes=logits.shape[1])
    return compute_loss(logits, masks), counts

#: slot forward
#: region loss
loss = compute_loss(model(images), masks).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss

#: slot before_training when project.loop=complete
samples = [val_loader.dataset[row] for row in range(min(8, len(val_loader.dataset)))]
shown_images, shown_masks = (torch.stack(parts) for parts in zip(*samples, strict=True))

#: slot after_evaluation
path = config.output_dir / f"masks_{progress.step:08d}.png"
draw_masks(accelerator, model, shown_images, shown_masks, path)

#: replace compute_loss when loss=dice
def compute_loss(logits: Tensor, masks: Tensor) -> Tensor:
    """The mean loss of the pixels of each image plus its Dice loss, without VOID, (batch,)."""
    losses = F.cross_entropy(logits, masks, ignore_index=VOID, reduction="none")
    known = masks != VOID
    pixels = losses.sum(dim=(1, 2)) / known.sum(dim=(1, 2)).clamp(min=1)
    classes = F.one_hot(masks.where(known, 0), logits.shape[1])
    true = classes.permute(0, 3, 1, 2) * known.unsqueeze(1)
    predicted = logits.softmax(dim=1) * known.unsqueeze(1)
    overlap = 2 * (true * predicted).sum(dim=(2, 3))
    sizes = (true + predicted).sum(dim=(2, 3))
    # a class that does not occur has an overlap of 0 out of nearly 0: it counts as found
    return pixels + 1 - ((overlap + 1) / (sizes + 1)).mean(dim=1)
