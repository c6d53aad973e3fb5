import torch.nn.functional as F

#: slot datasets
def augment(image, config, generator) -> Tensor:
    """The image, shape (channels, height, width), shifted, and mirrored half of the time."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = image.shape[-2:]
    padded = F.pad(image, (distance, distance, distance, distance))
    moved = padded[..., down : down + height, right : right + width]
    mirrored = torch.rand((), generator=generator) < 0.5
    return moved.flip(-1) if mirrored else moved
