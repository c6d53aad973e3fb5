import torch.nn.functional as F

#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image and its boxes, shifted, and half of the time flipped horizontally.

    Boxes are clipped to the image, and objects outside it are left out.
    """
    distance, size = config.augmentation_pixels, image.shape[2]
    right, down = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    padded = F.pad(image, (distance, distance, distance, distance))
    image = padded[:, down : down + size, right : right + size]
    moves = torch.tensor([distance - right, distance - down]).repeat(2)
    moved = {**objects, "boxes": (objects["boxes"] + moves).clamp(0, size)}
    inside = (moved["boxes"][:, :2] < moved["boxes"][:, 2:]).all(dim=1)
    moved = {name: values[inside] for name, values in moved.items()}
    if torch.rand((), generator=generator) < 0.5:
        return image, moved
    left, top, right, bottom = moved["boxes"].unbind(dim=1)
    moved["boxes"] = torch.stack([size - right, top, size - left, bottom], dim=1)
    return image.flip(2), moved
