import torch
import train
from data import augment

#: slot tests
def test_augmentation_draws_what_was_chosen():
    image = torch.rand(3, 16, 16)
    rng_state = torch.get_rng_state()
    drawn = []
    for seed in (0, 1, 0):
        generator = torch.Generator().manual_seed(seed)
        drawn.append(augment(image, train.Config(), generator))
    assert torch.equal(torch.get_rng_state(), rng_state), "this changes the dropout of training"
    assert drawn[0].shape == image.shape
    assert min(one.min() for one in drawn) >= 0 and max(one.max() for one in drawn) <= 1
    assert torch.equal(drawn[0], drawn[2]), "use the generator of the image"
    assert not torch.equal(drawn[0], drawn[1])
