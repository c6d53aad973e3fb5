#: file
"""Smaller images at first, growing to full size over the epochs."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader


def find_size(full: int, epoch: int, config) -> int:
    """Pixels per side in an epoch: rises linearly, and is full in the last fifth."""
    growing = int(0.8 * config.epochs)
    if epoch >= growing:
        return full
    share = config.progressive_resizing_start
    share += (1 - share) * epoch / growing
    return min(max(8 * int(share * full / 8), 8), full)


def resize(images: Tensor, epoch: int, config) -> Tensor:
    """Images of an epoch, shape (batch, channels, size, size)."""
    size = find_size(images.shape[-1], epoch, config)
    if size == images.shape[-1]:
        return images
    return F.interpolate(images.float(), (size, size), mode="bilinear", antialias=True)


@torch.no_grad()
def check_sizes(model: nn.Module, loader: DataLoader, config) -> None:
    """Raises SystemExit if the model does not accept the smallest images."""
    image = loader.dataset[0][0][None]
    small = resize(image, 0, config)
    model.eval()
    try:
        model(small)
    except (AssertionError, RuntimeError, ValueError) as error:
        flag = "image-size" if small.shape == image.shape else "progressive-resizing-start"
        raise SystemExit(
            f"The model can't use images of {small.shape[-1]} x {small.shape[-1]} pixels: use "
            f"a larger --{flag}. ({error})"
        ) from error
    model.train()
