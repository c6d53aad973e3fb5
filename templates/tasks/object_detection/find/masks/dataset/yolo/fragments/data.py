from pycocotools import mask as coco

#: replace read_line
def read_line(line: str, row: Annotated, names: list[str], place: str) -> None:
    """Add an object: its class, and x and y of the points of its mask, a polygon, from 0 to 1."""
    try:
        label, *points = line.split()
        number, points = int(label), [float(point) for point in points]
    except ValueError as error:
        raise SystemExit(
            f"{place}: {line!r:.60} is no class, and x and y of points from 0 to 1."
        ) from error
    if len(points) == 4:
        raise SystemExit(f"{place} is a box. Masks need x and y of three points or more.")
    if not 0 <= number < len(names):
        raise SystemExit(f"{place} has the class {number}. data.yaml has {len(names)} names.")
    right = all(-0.1 < part < 1.1 for part in points)  # add() is exact, to a pixel
    if len(points) < 6 or len(points) % 2 or not right:
        raise SystemExit(f"{place} needs x and y of three points or more, from 0 to 1.")
    width, height = row.size
    points = [part * (height if index % 2 else width) for index, part in enumerate(points)]
    across, down = points[::2], points[1::2]
    row.add([min(across), min(down), max(across), max(down)], names[number], place)
    row.masks.append(coco.merge(coco.frPyObjects([points], height, width)))
