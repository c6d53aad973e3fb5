import pytest
import torch
from PIL import Image
from torch.utils.data import ConcatDataset, Dataset, Subset

import train
from data import Augmented, augment, with_transform

#: slot tests
#: region augmentation
def test_augmentation_depends_on_seed_epoch_and_index():
    images = torch.rand(50, 1, 8, 8)
    data = Augmented(list(zip(images, range(50), strict=True)), train.Config())
    first = [data[index] for index in range(50)]
    assert [label for _, label in first] == list(range(50))
    assert not all(torch.equal(image, one) for (image, _), one in zip(first, images, strict=True))
    data.set_epoch(1)
    second = [data[index][0] for index in range(50)]
    assert not all(torch.equal(one[0], two) for one, two in zip(first, second, strict=True))
    data.set_epoch(0)
    for index in reversed(range(50)):  # in reverse order, with other random draws in between
        torch.rand(1)
        assert torch.equal(data[index][0], first[index][0]), "use the generator of the image"


def test_images_without_labels_are_augmented_too():
    images = torch.rand(5, 1, 8, 8)
    pairs = Augmented([(image, 0) for image in images], train.Config())
    alone = Augmented(list(images), train.Config())
    assert all(torch.equal(alone[index], pairs[index][0]) for index in range(5))
#: end augmentation

#: slot tests when kind=shift|shift_and_flip
#: region shift
def test_augmentation_draws_what_was_chosen():
    image = torch.zeros(1, 8, 8)
    image[:, 2:4, 1:6] = torch.rand(2, 5)  # far enough from the edges to come back whole
    generator, config = torch.Generator().manual_seed(0), train.Config()
    drawn = [augment(image, config, generator) for _ in range(200)]
    steps = range(-1, 2)
    moved = [image.roll((down, right), (-2, -1)) for down in steps for right in steps]
    #: region mirrored when kind=shift_and_flip
    moved += [one.flip(-1) for one in moved]
    #: end mirrored
    assert all(any(torch.equal(new, one) for one in moved) for new in drawn)
    #: region nine when kind=shift
    assert sum(any(torch.equal(new, one) for new in drawn) for one in moved) == 9
    #: end nine
    #: region eighteen when kind=shift_and_flip
    assert sum(any(torch.equal(new, one) for new in drawn) for one in moved) == 18
    #: end eighteen
#: end shift

#: slot tests when kind=flip
#: region flip
def test_augmentation_draws_what_was_chosen():
    image = torch.zeros(1, 8, 8)
    image[:, 2:4, 1:6] = torch.rand(2, 5)  # far enough from the edges to come back whole
    generator, config = torch.Generator().manual_seed(0), train.Config()
    drawn = [augment(image, config, generator) for _ in range(200)]
    both = [image, image.flip(-1)]
    assert all(any(torch.equal(new, one) for one in both) for new in drawn)
    assert all(any(torch.equal(new, one) for new in drawn) for one in both)
#: end flip

#: slot tests when kind=erase
#: region erase
def test_augmentation_draws_what_was_chosen():
    image = torch.arange(1.0, 65.0).reshape(1, 8, 8)
    generator, config = torch.Generator().manual_seed(0), train.Config()
    drawn = [augment(image, config, generator) for _ in range(200)]
    changed = [(new != image).sum().item() for new in drawn]
    assert set(changed) <= set(range(17)), "a square of 4 x 4 pixels"
    assert changed.count(0) < 200, "nothing is erased"
    assert changed.count(0) > 50, "half of the images stay as they are"
#: end erase

#: slot tests when kind=photo|randaugment|trivialaugment
#: region random_crop
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
#: end random_crop

#: replace random_crop when kind=photo semantic_segmentation.dataset=shapes

#: replace painted_data when kind=photo semantic_segmentation.dataset=folder|coco|huggingface
pictures = Pictures()
parts = Subset(ConcatDataset([Subset(pictures, range(30))]), range(30))
data = Augmented(parts, train.Config())
assert pictures[0] == "scaled", "validation data share these pictures"

#: replace given when kind=photo semantic_segmentation.dataset=folder|coco|huggingface
given, config = as_pictures(), train.Config(image_size=32)

#: replace random_crop when kind=photo semantic_segmentation.dataset=folder|coco|huggingface
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

#: slot second_epoch with balanced_sampling
loader.dataset.set_epoch(1)
