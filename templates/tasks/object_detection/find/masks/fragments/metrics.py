from collections.abc import Callable

#: slot measure
, shares: Callable = box_shares

#: slot about_measure
How far things overlap is told by `shares`: box_shares or mask_shares.

#: replace rows
pairs = zip(found.cpu(), targets, strict=True)
rows = [judge_image(one, objects, shares(one, objects)) for one, objects in pairs]

#: slot measured
, shares: Tensor

#: replace about_shares
The detection with the highest score comes first. It finds the object of its class with the
largest of its `shares`, of those not found yet. If only a crowd fits, it counts nowhere.

#: replace shares
labels, crowd = objects["labels"].cpu(), objects["crowd"].cpu()

#: replace judged
return torch.cat([found[:, 4:6], outcome], dim=1)
