import torch.nn.functional as F

#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, its boxes and its masks, shifted, and half of the time flipped horizontally.

    Boxes and masks are clipped to the image, and objects outside it are left out.
    """
    distance, size = config.augmentation_pixels, image.shape[2]
    right, down = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    image, masks = (
        F.pad(pixels, 4 * [distance])[:, down : down + size, right : right + size]
        for pixels in (image, objects["masks"])
    )
    moves = torch.tensor([distance - right, distance - down]).repeat(2)
    boxes = (objects["boxes"] + moves).clamp(0, size)
    moved = keep_seen({**objects, "boxes": boxes, "masks": masks})
    if torch.rand((), generator=generator) < 0.5:
        return image, moved
    left, top, right, bottom = moved["boxes"].unbind(dim=1)
    boxes = torch.stack([size - right, top, size - left, bottom], dim=1)
    return image.flip(2), {**moved, "boxes": boxes, "masks": moved["masks"].flip(2)}
