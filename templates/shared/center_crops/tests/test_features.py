#: when project.task=autoencoder|diffusion|gan|image_classification|self_supervised dataset=image_folder|huggingface|csv with augmentation
from functools import partial

import pytest
import torch
from PIL import Image
from torch.utils.data import ConcatDataset, Dataset, Subset

import train
from data import Augmented, build_change, to_square, with_transform
from helpers import SETTINGS

#: replace augmentation
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

#: replace random_crop when features.augmentation.kind=photo|randaugment|trivialaugment
def test_augmentation_draws_what_was_chosen():
    """From the original picture, with details that its scaled crop lacks."""
    stripes = Image.new("L", (256, 1))
    stripes.putdata([255 * (place % 2) for place in range(256)])
    change = build_change(train.Config(**{**SETTINGS, "image_size": 64}))
    drawn = [change(stripes.resize((256, 256))) for _ in range(20)]
    white = to_square(Image.new("RGB", (64, 64), "white"), 64)
    for image in drawn:
        assert image.shape == white.shape and image.dtype == white.dtype
        assert image.stride() == white.stride(), "batches would be stacked slower"
        assert image.min() >= 0 and image.max() <= white.max()
    assert len({tuple(image.flatten().tolist()) for image in drawn}) == 20


def test_data_without_a_transform_is_an_error():
    with pytest.raises(TypeError, match="list has no attribute `transform`"):
        with_transform([1, 2], None)
