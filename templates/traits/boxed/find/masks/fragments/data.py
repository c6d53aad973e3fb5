from masks import decode
from pycocotools import mask as coco

#: slot outlines
masks: list[dict] = field(default_factory=list)  # as COCO's run lengths

#: slot masks
"masks": scale_masks(row.masks, self.size),

#: slot build_datasets
def scale_masks(rows: list[dict], size: int) -> Tensor:
    """Masks, scaled as their image, shape (objects, size, size)."""
    masks = torch.zeros(len(rows), size, size, dtype=torch.bool)
    for mask, runs in zip(masks, rows, strict=True):
        pixels = Image.fromarray(decode(runs).numpy())
        mask[:] = torch.from_numpy(np.array(pixels.resize((size, size), Image.Resampling.NEAREST)))
    return masks


def draw_polygons(polygons: list, row: Annotated, place: str) -> dict:
    """The mask of an object whose parts are polygons: lists of x, y, x, y, ... in pixels.

    Raises SystemExit for one that has no three points, or is not in the image, up to a pixel.
    """
    width, height = row.size
    for points in polygons:
        right = isinstance(points, list) and all(type(value) in (int, float) for value in points)
        if not right or len(points) < 6 or len(points) % 2:
            raise SystemExit(f"{place}: {points!r:.60} is not x and y of three points or more.")
        for x, y in zip(points[::2], points[1::2], strict=True):
            if not (-1 <= x <= width + 1 and -1 <= y <= height + 1):
                raise SystemExit(
                    f"{place}: the point {x:g}, {y:g} of the mask is not within {row.image}, "
                    f"{width} x {height} pixels."
                )
    return coco.merge(coco.frPyObjects(polygons, height, width))
