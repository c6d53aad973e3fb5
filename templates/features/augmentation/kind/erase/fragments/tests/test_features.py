import torch
import train
from data import augment

#: slot tests
def test_augmentation_draws_what_was_chosen():
    image = torch.arange(1.0, 65.0).reshape(1, 8, 8)
    generator, config = torch.Generator().manual_seed(0), train.Config()
    drawn = [augment(image, config, generator) for _ in range(200)]
    changed = [(new != image).sum().item() for new in drawn]
    assert set(changed) <= set(range(17)), "a square of 4 x 4 pixels"
    assert changed.count(0) < 200, "nothing is erased"
    assert changed.count(0) > 50, "half of the images stay as they are"
