import torch
import train
from data import Augmented

#: slot tests
def paint(*boxes: tuple[int, int, int, int]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """A black image of 24 x 24 pixels, with objects as bright as their class."""
    image, target = torch.zeros(3, 24, 24), objects(*((*box, 1) for box in boxes))
    for left, top, right, bottom in boxes:
        image[:, top:bottom, left:right] = 1.0
    #: slot painted
    return image, target


def find_edges(image: torch.Tensor) -> list[list[float]]:
    """The box around what is bright, if anything is."""
    rows, columns = (image[0] > 0.5).nonzero().unbind(dim=1)
    if not len(rows):
        return []
    ends = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    return [[float(end) for end in ends]]


def test_augmentation_depends_on_seed_epoch_and_index():
    data = Augmented([paint((6, 8, 12, 11))] * 30, train.Config())

    def read(epoch: int, order=range(30)) -> list[list]:
        data.set_epoch(epoch)
        samples = {index: data[index] for index in order}
        rows = [samples[index] for index in range(30)]
        return [[image.tolist(), target["boxes"].tolist()] for image, target in rows]

    first = read(0)
    assert any(one != first[0] for one in first), "all images are changed in the same way"
    assert read(1) != first
    torch.rand(1)
    assert read(0, reversed(range(30))) == first, "use the generator of the image"
