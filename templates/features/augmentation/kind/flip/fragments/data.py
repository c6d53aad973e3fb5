#: slot datasets
def augment(image: Tensor, config, generator: torch.Generator) -> Tensor:
    """The image, shape (channels, height, width), mirrored left to right every other time."""
    mirrored = torch.rand((), generator=generator) < 0.5
    return image.flip(-1) if mirrored else image
