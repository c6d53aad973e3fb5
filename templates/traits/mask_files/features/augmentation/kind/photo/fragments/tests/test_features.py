import pytest
import torch
import train
from data import with_transform
from PIL import Image
from torch.utils.data import ConcatDataset, Dataset, Subset

#: replace painted_data
pictures = Pictures()
parts = Subset(ConcatDataset([Subset(pictures, range(30))]), range(30))
data = Augmented(parts, train.Config())
assert pictures[0] == "scaled", "validation data share these pictures"

#: replace given
given, config = as_pictures(), train.Config(image_size=32)

#: slot tests
def as_pictures() -> tuple[Image.Image, Image.Image]:
    """The same as pictures."""
    image, mask = paint()
    pixels = (255 * image).byte().permute(1, 2, 0).numpy()
    return Image.fromarray(pixels), Image.fromarray(mask.byte().numpy())


class Pictures(Dataset):
    """Thirty of them."""

    def __init__(self) -> None:
        self.transform = lambda *pictures: "scaled"

    def __len__(self) -> int:
        return 30

    def __getitem__(self, index: int):
        return self.transform(*as_pictures())


def test_a_part_has_the_details_of_the_picture():
    """Stripes that a scaled picture lacks, in a part of it."""
    stripes = Image.new("RGB", (256, 256))
    stripes.putdata([(255 * (place % 256 // 2 % 2),) * 3 for place in range(256 * 256)])
    mask = Image.new("L", (256, 256), 1)
    spread = []
    for seed in range(10):
        generator = torch.Generator().manual_seed(seed)
        image, labels = augment(stripes, mask, train.Config(image_size=128), generator)
        assert image.shape == (3, 128, 128) and (labels == 1).all()
        spread.append(image.std())
    assert max(spread) > 0.2, "cut before scaling"


def test_data_that_can_not_be_changed_are_named():
    with pytest.raises(TypeError, match="list has no attribute `transform`"):
        with_transform([1, 2], None)
