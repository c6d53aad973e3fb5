import torch.nn.functional as F

#: slot datasets
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """The image and its mask, shifted by up to `augmentation_pixels`. New pixels are VOID."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = mask.shape
    edges = (distance, distance, distance, distance)
    part = (slice(down, down + height), slice(right, right + width))
    moved, mask = F.pad(image, edges)[:, *part], F.pad(mask, edges, value=VOID)[part]
    return moved, mask
