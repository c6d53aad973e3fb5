from masks import find_masks

#: replace pairs
size = image.shape[-1]
masks = find_masks(found, size, size, size)
rows = [
    (objects["boxes"], objects["masks"], true),
    (found[:, :4], masks, label_found(found, names)),
]
for row, (boxes, masks, labels) in enumerate(rows):
    painted = paint(photo, masks, labels)
    drawn = draw(painted, (scale * boxes).tolist(), labels)

#: replace labels
return [f"{names[int(label)]} {score:.2f}" for score, label in found[:, 4:6].tolist()]

#: slot functions
def paint(image: Image.Image, masks: Tensor, labels: list[str]) -> Image.Image:
    """An image with each mask half covered by the colour of its label."""
    painted = image.convert("RGB")
    for mask, label in zip(masks, labels, strict=True):
        cover = Image.fromarray((127 * mask.byte()).numpy()).resize(image.size)
        painted.paste(find_color(label), mask=cover)
    return painted


def find_color(label: str) -> tuple[int, ...]:
    hue = sum(label.split(" ")[0].encode()) * 0.618 % 1
    return tuple(int(255 * part) for part in hsv_to_rgb(hue, 0.8, 1.0))

#: replace color
color = find_color(label)
