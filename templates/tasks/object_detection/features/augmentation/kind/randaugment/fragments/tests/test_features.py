import torch
import train
from data import augment

#: slot tests
def test_augmentation_draws_parts_with_objects():
    """And are the same from the same generator."""
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
    assert kept > 20
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different dropout"
    empty = augment(*paint(), train.Config(), torch.Generator().manual_seed(0))
    assert empty[1]["boxes"].shape == (0, 4)
