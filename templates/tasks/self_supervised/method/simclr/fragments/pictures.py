from itertools import islice
import torch
from torch.utils.data import Dataset

#: slot functions
def draw_views(data: Dataset, path: Path) -> None:
    """Draw the first training images, and below each the views that are compared."""
    images, views = map(torch.stack, zip(*islice(data, 16), strict=True))
    save_grid(torch.cat([images, views[:, 0], views[:, 1]]), columns=len(images), path=path)
