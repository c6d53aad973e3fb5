#: slot datasets
def augment(image, config, generator) -> Tensor:
    """The image, shape (channels, height, width), mirrored left to right half of the time."""
    mirrored = torch.rand((), generator=generator) < 0.5
    return image.flip(-1) if mirrored else image
