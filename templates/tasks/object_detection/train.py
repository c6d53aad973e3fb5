from itertools import islice

import torch
from torch import Tensor

from boxes import find_objects
from data import Objects, class_names
from loss import compute_loss
from masks import split
from metrics import box_shares, count_objects, detection_scores, judge, mask_shares
from pictures import draw_boxes

#: slot evaluate_function
@torch.no_grad()
def evaluate(accelerator, model, loader, name{{ task.limit }}) -> dict[str, float]:
    """Mean loss of all images, and mean average precision of all detections.

    Detections are compared with the objects of their image on the same process: what is gathered
    has the same shape for each image. gather_for_metrics drops the images that pad the last batch.
    """
    model.eval()
    batches = []
    #: slot before_evaluation
    for images, targets in {{ task.batches }}:
        ...  #: slot scored
        #: slot evaluated_batch
    #: slot back_to_training
    #: region columns
    losses, judged, objects = map(torch.cat, zip(*batches, strict=True))
    #: end columns
    return {
        f"{name}_loss": float(losses.mean()),
        **{f"{name}_{key}": value for key, value in detection_scores(judged, objects).items()},
        #: slot evaluated_masks
        #: slot evaluated
    }


#: region score
...
#: end score

#: slot before_training when project.loop=complete
shown = [val_loader.dataset[row] for row in range(min(8, len(val_loader.dataset)))]

#: slot after_evaluation
path = config.output_dir / f"boxes_{progress.step:08d}.png"
draw_boxes(accelerator, model, shown, class_names(config), path)

#: replace columns when find=masks
losses, judged, judged_masks, objects = map(torch.cat, zip(*batches, strict=True))
mask_scores = detection_scores(judged_masks, objects)

#: slot evaluated_masks when find=masks
**{f"{name}_mask_{key}": value for key, value in mask_scores.items()},

#: replace score when find=masks
def score(outputs: Tensor, targets: list[Objects]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The loss of each image, its detections as judge() judges them, and its objects per class.

    Detections are judged twice: by their boxes and by their masks.
    """
    found, counts = find_objects(outputs), count_objects(targets, split(outputs)[1].shape[2])
    judged = [judge(found, targets, shares) for shares in (box_shares, mask_shares)]
    return compute_loss(outputs, targets), *judged, counts

#: slot scored when model=small|timm
batches.append(accelerator.gather_for_metrics(score(model(images), targets)))

#: replace score when model=small|timm find=boxes
def score(outputs: Tensor, targets: list[Objects]) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of each image, its detections as judge() judges them, and its objects per class."""
    counts = count_objects(targets, classes=outputs.shape[2] - 4)
    return compute_loss(outputs, targets), judge(find_objects(outputs), targets), counts

#: slot forward when model=small|timm
#: region loss
loss = compute_loss(model(images), targets).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss

#: slot scored when model=transformers
batches.append(accelerator.gather_for_metrics(score(*model(images, targets), targets)))

#: replace score when model=transformers
def score(outputs: Tensor, losses: Tensor, targets: list[Objects]) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of each image, its detections as judge() judges them, and its objects per class."""
    counts = count_objects(targets, classes=outputs.shape[2] - 4)
    return losses, judge(find_objects(outputs), targets), counts

#: slot forward when model=transformers
#: region loss
_, losses = model(images, targets)
loss = losses.mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss
