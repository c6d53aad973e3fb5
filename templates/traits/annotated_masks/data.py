from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pycocotools import mask as coco

#: slot build_datasets
@dataclass
class Annotated:
    """An image on the disk, and the masks of its objects."""

    image: Path
    size: tuple[int, int]  # width and height in pixels
    labels: list[int] = field(default_factory=list)
    masks: list[dict] = field(default_factory=list)  # as COCO's run lengths


class MaskedImages(Dataset):
    """RGB images, shape (3, size, size), from 0 to 1, and their masks, shape (size, size)."""

    def __init__(self, rows: list[Annotated], size: int) -> None:
        self.rows, self.transform = rows, partial(scale, size=size)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        row = self.rows[index]
        return self.transform(open_image(row.image), draw_mask(row))


def draw_mask(row: Annotated) -> Image.Image:
    """The class of each pixel: 0 where no object is, and VOID where those of two classes are."""
    width, height = row.size
    mask = np.zeros((height, width), np.uint8)
    for label, runs in zip(row.labels, row.masks, strict=True):
        inside = coco.decode(runs).astype(bool)
        alone = np.isin(mask[inside], (0, label))
        mask[inside] = np.where(alone, label, VOID)
    return Image.fromarray(mask)
