import torch
import train
from data import augment

#: slot painted
target["masks"] = torch.zeros(len(boxes), 24, 24, dtype=torch.bool)
for mask, (left, top, right, bottom) in zip(target["masks"], boxes, strict=True):
    mask[top:bottom, left:right] = True

#: slot tests
def test_masks_follow_their_image():
    """A grey object on black is where its mask is, up to the pixels that scaling blurs."""
    image, target = paint((6, 8, 16, 18))
    places = set()
    for seed in range(60):
        generator = torch.Generator().manual_seed(seed)
        changed, moved = augment(0.4 * image, target, train.Config(), generator)
        assert len(moved["masks"]) == len(moved["boxes"]) == len(moved["labels"])
        light = changed.mean(dim=0)
        for mask in moved["masks"]:
            assert mask.dtype == torch.bool and mask.shape == light.shape
            darkest, brightest = light.aminmax()
            if brightest - darkest > 0.01:  # else the object fills the image, or is as dark
                bright = light > (darkest + brightest) / 2
                assert (mask & bright).sum() > 0.7 * (mask | bright).sum()
            places.add(str(mask.nonzero().tolist()))
    assert len(places) > 1, "no image was changed"
