from math import isqrt

from masks import inside, split

#: slot about_masks when find=masks

The mean of mask_loss() over these places is added.

#: replace parts when find=masks
boxes, logits, weights, features = split(output)

#: replace sum when find=masks
masks = mask_loss(weights[places] @ features.T, objects["masks"][known][owners], true[owners])
return (4 * quality.sum() + distances.sum() + 4 * masks.sum()) / max(len(places), 1)

#: slot functions when find=masks
def mask_loss(logits: Tensor, masks: Tensor, boxes: Tensor) -> Tensor:
    """The cross-entropy of each mask, averaged over the places in its box.

    The target of a place is the share of its pixels that belong to the object.
    """
    side, size = isqrt(logits.shape[1]), masks.shape[-1]
    shares = F.adaptive_avg_pool2d(masks.float(), side).flatten(1)
    errors = F.binary_cross_entropy_with_logits(logits, shares, reduction="none")
    within = inside(boxes, size, side, side).flatten(1)
    return (errors * within).sum(dim=1) / within.sum(dim=1).clamp(min=1)
