import torch
import train
from data import augment

#: slot tests
def test_boxes_follow_their_objects():
    """A white object on black is where its box is, up to the pixels that scaling blurs."""
    image, target = paint((6, 8, 16, 18))
    numbers, kept = torch.get_rng_state(), 0
    for seed in range(40):
        drawn = [
            augment(image, target, train.Config(), torch.Generator().manual_seed(seed))
            for _ in range(2)
        ]
        (changed, moved), (again, same) = drawn
        assert torch.equal(changed, again) and torch.equal(moved["boxes"], same["boxes"])
        assert changed.shape == image.shape
        assert type(changed) is type(moved["boxes"]) is torch.Tensor
        kept += len(moved["boxes"])
        for box in moved["boxes"].tolist():
            bright = (changed.mean(dim=0) > changed.mean(dim=0).max() / 2).nonzero()
            (top, left), (bottom, right) = bright.amin(dim=0), bright.amax(dim=0) + 1
            expected = torch.stack([left, top, right, bottom]).float()
            torch.testing.assert_close(torch.tensor(box), expected, rtol=0, atol=2.0)
    assert kept > 20
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different dropout"
    empty = augment(*paint(), train.Config(), torch.Generator().manual_seed(0))
    assert empty[1]["boxes"].shape == (0, 4)
