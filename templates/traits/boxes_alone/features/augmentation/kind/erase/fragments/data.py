from boxes import area, intersect

#: slot datasets
def augment(image, objects, config, generator) -> tuple[Tensor, Objects]:
    """The image, half of the time with an erased square, and the objects that stay visible."""
    height, width = image.shape[-2:]
    side = min(height, width) // 2
    if torch.rand((), generator=generator) < 0.5:
        return image, objects
    top = int(torch.randint(0, height - side + 1, (), generator=generator))
    left = int(torch.randint(0, width - side + 1, (), generator=generator))
    erased = image.clone()
    erased[:, top : top + side, left : left + side] = 0
    square = torch.tensor([left, top, left + side, top + side])
    boxes = objects["boxes"]
    seen = area(intersect(boxes, square)) < area(boxes)
    return erased, {name: values[seen] for name, values in objects.items()}
