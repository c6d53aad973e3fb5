from masks import split
from metrics import box_shares, mask_shares

#: replace columns
losses, judged, judged_masks, objects = map(torch.cat, zip(*batches, strict=True))
mask_scores = detection_scores(judged_masks, objects)

#: slot evaluated_masks
**{f"{name}_mask_{key}": value for key, value in mask_scores.items()},

#: replace score_boxes
def score(outputs: Tensor, targets: list[Objects]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The loss of each image, its detections as judge() judges them, and its objects per class.

    Detections are judged twice: by their boxes and by their masks.
    """
    found, counts = find_objects(outputs), count_objects(targets, split(outputs)[1].shape[2])
    judged = [judge(found, targets, shares) for shares in (box_shares, mask_shares)]
    return compute_loss(outputs, targets), *judged, counts
