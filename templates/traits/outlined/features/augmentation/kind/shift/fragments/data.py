import torch.nn.functional as F

#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, its boxes and its masks, shifted by up to `augmentation_pixels`.

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
    return image, keep_seen({**objects, "boxes": boxes, "masks": masks})
