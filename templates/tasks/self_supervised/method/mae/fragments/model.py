import torch

#: slot functions
def to_patches(images: Tensor, patches: int) -> Tensor:
    """The pixels of patches, row by row: (batch, patches, channels * size * size)."""
    side = round(patches**0.5)
    rows = images.unflatten(3, (side, -1)).unflatten(2, (side, -1))
    return rows.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def to_images(patches: Tensor, channels: int) -> Tensor:
    """The images of such patches, shape (batch, channels, size, size)."""
    side, size = round(patches.shape[1] ** 0.5), round((patches.shape[2] / channels) ** 0.5)
    rows = patches.unflatten(2, (channels, size, size)).unflatten(1, (side, side))
    return rows.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)
