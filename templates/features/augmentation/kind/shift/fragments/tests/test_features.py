import torch
import train
from data import augment

#: slot tests
def test_augmentation_draws_what_was_chosen():
    image = torch.zeros(1, 8, 8)
    image[:, 2:4, 1:6] = torch.rand(2, 5)  # far enough from the edges to come back whole
    generator, config = torch.Generator().manual_seed(0), train.Config()
    drawn = [augment(image, config, generator) for _ in range(200)]
    steps = range(-1, 2)
    moved = [image.roll((down, right), (-2, -1)) for down in steps for right in steps]
    assert all(any(torch.equal(new, one) for one in moved) for new in drawn)
    assert sum(any(torch.equal(new, one) for new in drawn) for one in moved) == 9
