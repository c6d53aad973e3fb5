import torch
import train
from data import Augmented

#: slot tests
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
