#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, half of the time with an erased square, and the objects that stay visible.

    Masks lose the pixels in the square. Boxes stay those of whole objects.
    """
    height, width = image.shape[-2:]
    side = min(height, width) // 2
    if torch.rand((), generator=generator) < 0.5:
        return image, objects
    top = int(torch.randint(0, height - side + 1, (), generator=generator))
    left = int(torch.randint(0, width - side + 1, (), generator=generator))
    erased, masks = image.clone(), objects["masks"].clone()
    for pixels in (erased, masks):
        pixels[:, top : top + side, left : left + side] = 0
    return erased, keep_seen({**objects, "masks": masks})
