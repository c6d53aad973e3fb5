from torch import Tensor

from boxes import find_objects
from data import Objects
from loss import compute_loss
from metrics import count_objects, judge

#: slot scored
batches.append(accelerator.gather_for_metrics(score(model(images), targets)))

#: replace score
#: region score_boxes
def score(outputs: Tensor, targets: list[Objects]) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of each image, its detections as judge() judges them, and its objects per class."""
    counts = count_objects(targets, classes=outputs.shape[2] - 4)
    return compute_loss(outputs, targets), judge(find_objects(outputs), targets), counts
#: end score_boxes

#: slot forward
#: region loss
loss = compute_loss(model(images), targets).mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss
