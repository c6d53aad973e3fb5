import torch.nn.functional as F

#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image and its boxes, shifted by up to `augmentation_pixels`.

    Boxes are clipped to the image, and objects outside it are left out.
    """
    distance, size = config.augmentation_pixels, image.shape[2]
    right, down = torch.randint(0, 2 * distance + 1, (2,), generator=generator).tolist()
    padded = F.pad(image, (distance, distance, distance, distance))
    moves = torch.tensor([distance - right, distance - down]).repeat(2)
    moved = {**objects, "boxes": (objects["boxes"] + moves).clamp(0, size)}
    inside = (moved["boxes"][:, :2] < moved["boxes"][:, 2:]).all(dim=1)
    moved = {name: values[inside] for name, values in moved.items()}
    return padded[:, down : down + size, right : right + size], moved
