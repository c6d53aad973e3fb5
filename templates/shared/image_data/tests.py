from functools import partial
from pathlib import Path

import pytest
import torch
from PIL import Image
from torch.utils.data import ConcatDataset, Dataset, Subset

import train
from data import Augmented, build_change, build_datasets, to_square, with_transform
from distance import Moments, frechet_distance
from helpers import SETTINGS

#: into tests/test_features.py when project.task=autoencoder|diffusion|gan|image_classification|self_supervised dataset=image_folder|huggingface|csv with augmentation
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

#: into tests/helpers.py with decoded
#: slot settings without data_loading
"num_workers": 0,  # starting workers takes longer than a test

#: into tests/test_features.py when project.task=diffusion|gan
#: slot tests
def test_distance_of_known_moments():
    """Of equal pixels with means 0 and 3 and standard deviations 1 and 2: (3 - 0)² + (2 - 1)²."""
    one, other = Moments(), Moments()
    for value in (-1.0, 1.0):  # moments of several batches add up
        one.add(torch.full((1, 1, 8, 8), value))
        other.add(torch.full((1, 1, 8, 8), 3 + 2 * value))
    assert frechet_distance(one, other) == pytest.approx(64 * 10.0)
    assert frechet_distance(one, one) == pytest.approx(0.0, abs=1e-9)

#: slot tests when dataset=image_folder
def test_the_distance_needs_no_matrix_of_all_pixels():
    moments = Moments()
    moments.add(torch.rand(2, 3, 256, 256))
    assert moments.covariance.shape == (192, 192)

#: into tests/helpers.py
#: slot settings when project.task=autoencoder|diffusion|gan|self_supervised dataset=image_folder
"image_size": 16,

#: into tests/test_features.py with unlabelled_images
#: slot tests when dataset=image_folder
def paint(folder: Path, number: int) -> train.Config:
    """Write red images of several sizes and kinds. Returns the settings that load them."""
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(number):
        mode = ["RGB", "RGBA", "P"][index % 3]
        image = Image.new("RGB", (30 + index, 40), "red").convert(mode)
        image.save(folder / f"{index}.png")
    return train.Config(**{**SETTINGS, "path": str(folder), "image_size": 12})


def sizes(config) -> list[int]:
    return [len(part) for part in build_datasets(config)]


def test_images_become_datasets(tmp_path):
    """Directly in the folder or in subfolders, of any size and kind."""
    config = paint(tmp_path, 60)
    paint(tmp_path / "more", 40)
    Image.new("L", (9, 90), 255).save(tmp_path / "white.JPG")
    assert sizes(config) == [82, 10, 9], "a tenth for each split"
    white = 0
    for part in build_datasets(config):
        for image in part:
            expected = torch.tensor([1.0, 0.0, 0.0]).reshape(3, 1, 1).expand(3, 12, 12)
            white += int((image == 1).all())
            assert torch.equal(image, expected) or (image == 1).all()
    assert white == 1


def test_folders_of_parts(tmp_path):
    config = paint(tmp_path, 20)
    paint(tmp_path / "test", 3)
    assert sizes(config) == [18, 2, 3]
    paint(tmp_path / "train" / "red", 7)
    paint(tmp_path / "val", 2)
    assert sizes(config) == [7, 2, 3], "train/ holds the training data"


@pytest.mark.parametrize(
    ("number", "message"), [(None, "is not a folder"), (0, "no images"), (9, "too few images")]
)
def test_folders_that_do_not_fit(number, message, tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path / "images")})
    if number is not None:
        paint(tmp_path / "images", number)
    with pytest.raises(SystemExit, match=message):
        build_datasets(config)


def test_an_unreadable_image_is_named(tmp_path):
    config = paint(tmp_path, 20)
    whole = (tmp_path / "7.png").read_bytes()
    (tmp_path / "7.png").write_bytes(whole[:60])
    with pytest.raises(OSError, match="7.png can't be read as an image"):
        [image for part in build_datasets(config) for image in part]
    (tmp_path / "7.png").write_text("no image")
    with pytest.raises(SystemExit, match="7.png can't be read as an image"):
        build_datasets(config)
