#: slot datasets
def augment(image, config, generator) -> Tensor:
    """The image, shape (channels, height, width), half of the time with a square of zeros."""
    height, width = image.shape[-2:]
    side = min(height, width) // 2
    if torch.rand((), generator=generator) < 0.5:
        return image
    top = int(torch.randint(0, height - side + 1, (), generator=generator))
    left = int(torch.randint(0, width - side + 1, (), generator=generator))
    erased = image.clone()
    erased[..., top : top + side, left : left + side] = 0
    return erased
