#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, its boxes and its masks, half of the time flipped horizontally."""
    if torch.rand((), generator=generator) < 0.5:
        return image, objects
    left, top, right, bottom = objects["boxes"].unbind(dim=1)
    width = image.shape[2]
    boxes = torch.stack([width - right, top, width - left, bottom], dim=1)
    return image.flip(2), {**objects, "boxes": boxes, "masks": objects["masks"].flip(2)}

#: replace keep_seen
