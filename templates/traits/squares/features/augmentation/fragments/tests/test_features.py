from functools import partial

import torch
import train
from data import Augmented, to_square
from helpers import SETTINGS
from PIL import Image
from torch.utils.data import ConcatDataset, Dataset, Subset

#: slot tests
class Pictures(Dataset):
    """Pictures of noise, and their numbers."""

    def __init__(self, number: int) -> None:
        self.number, self.transform = number, partial(to_square, size=16)

    def __len__(self) -> int:
        return self.number

    def __getitem__(self, index: int):
        noise = torch.randint(256, (40, 30, 3), generator=torch.Generator().manual_seed(index))
        return self.transform(Image.fromarray(noise.byte().numpy())), index


def test_augmentation_depends_on_seed_epoch_and_index():
    config = train.Config(**{**SETTINGS, "image_size": 16})
    pictures = Pictures(50)
    images = [pictures[index][0] for index in range(50)]
    # parts of parts, as random_split and cross-validation make them
    data = Augmented(Subset(ConcatDataset([Subset(pictures, range(50))]), range(50)), config)
    numbers = torch.get_rng_state()
    first = [data[index] for index in range(50)]
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different dropout"
    assert [label for _, label in first] == list(range(50))
    assert not all(torch.equal(image, one) for (image, _), one in zip(first, images, strict=True))
    data.set_epoch(1)
    second = [data[index][0] for index in range(50)]
    assert not all(torch.equal(one[0], two) for one, two in zip(first, second, strict=True))
    data.set_epoch(0)
    for index in reversed(range(50)):  # in reverse order, with other random draws in between
        torch.rand(1)
        assert torch.equal(data[index][0], first[index][0]), "use the generator of the image"
    assert torch.equal(pictures[0][0], images[0]), "validation data uses the same pictures"
