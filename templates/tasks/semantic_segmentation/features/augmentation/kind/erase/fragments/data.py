#: slot datasets
def augment(image, mask, config, generator) -> tuple[Tensor, Tensor]:
    """The image, half of the time with an erased square, where the mask is VOID."""
    height, width = mask.shape
    side = min(height, width) // 2
    if torch.rand((), generator=generator) < 0.5:
        return image, mask
    top = int(torch.randint(0, height - side + 1, (), generator=generator))
    left = int(torch.randint(0, width - side + 1, (), generator=generator))
    erased, unknown = image.clone(), mask.clone()
    erased[:, top : top + side, left : left + side] = 0
    unknown[top : top + side, left : left + side] = VOID
    return erased, unknown
