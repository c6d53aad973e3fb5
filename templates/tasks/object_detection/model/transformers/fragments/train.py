from torch import Tensor

#: slot scored
batches.append(accelerator.gather_for_metrics(score(*model(images, targets), targets)))

#: replace score
def score(
    outputs: Tensor, losses: Tensor, targets: list[Objects]
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of each image, its detections as judge() judges them, and its objects per class."""
    counts = count_objects(targets, classes=outputs.shape[2] - 4)
    return losses, judge(find_objects(outputs), targets), counts

#: slot forward
#: region loss
_, losses = model(images, targets)
loss = losses.mean()
#: end loss
#: region add_loss
train_loss.add(loss, len(images))
#: end add_loss
