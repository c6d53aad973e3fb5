import train
from data import build_datasets
from helpers import SETTINGS
from masks import inside

#: slot tests
def test_masks_fill_their_boxes():
    """At least to a third: a triangle does by half. A pixel at the edge may be beyond."""
    seen = 0
    for image, target in map(build_datasets(train.Config(**SETTINGS))[0].__getitem__, range(20)):
        size = image.shape[-1]
        boxes = inside(target["boxes"], size, size, size)
        for mask, box in zip(target["masks"], boxes, strict=True):
            assert not (mask & ~box).any()
            assert mask.sum() > box.sum() / 3
            seen += 1
    assert seen > 5
