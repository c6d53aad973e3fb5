import torch.nn.functional as F

#: slot datasets
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """The image and its mask, shifted, and flipped half of the time. New pixels are VOID."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = mask.shape
    edges = (distance, distance, distance, distance)
    part = (slice(down, down + height), slice(right, right + width))
    moved, mask = F.pad(image, edges)[:, *part], F.pad(mask, edges, value=VOID)[part]
    mirrored = torch.rand((), generator=generator) < 0.5
    return (moved.flip(2), mask.flip(1)) if mirrored else (moved, mask)
