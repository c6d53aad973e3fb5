from collections.abc import Callable

#: slot measure
, shares: Callable = box_shares

#: slot about_measure
`shares` measures the overlap: box_shares or mask_shares.

#: replace rows
pairs = zip(found.cpu(), targets, strict=True)
rows = [judge_image(one, objects, shares(one, objects)) for one, objects in pairs]

#: slot measured
, shares: Tensor

#: replace about_shares
Detections are sorted by score, highest first. Each finds the object of its class with the
highest of its `shares`, among those not found yet. If only a crowd fits, it is ignored.

#: replace shares
labels, crowd = objects["labels"].cpu(), objects["crowd"].cpu()

#: replace judged
return torch.cat([found[:, 4:6], outcome], dim=1)
