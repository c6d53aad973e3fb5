import torch.nn.functional as F

#: slot datasets
def augment(image: Tensor, config, generator: torch.Generator) -> Tensor:
    """The image, shape (channels, height, width), moved by up to so many pixels."""
    distance = config.augmentation_pixels
    down, right = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    height, width = image.shape[-2:]
    padded = F.pad(image, (distance, distance, distance, distance))
    return padded[..., down : down + height, right : right + width]
