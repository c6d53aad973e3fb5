#: slot datasets
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """The image and its mask, half of the time flipped horizontally."""
    mirrored = torch.rand((), generator=generator) < 0.5
    return (image.flip(2), mask.flip(1)) if mirrored else (image, mask)
