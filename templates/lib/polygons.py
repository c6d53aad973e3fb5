#: into data.py at build_datasets
"""Masks of objects as polygons or run lengths, as in COCO."""

from pathlib import Path

from lib.coco import read_values
from pycocotools import mask as coco


def read_mask(shape, image: Path, size: tuple[int, int], place: str) -> dict:
    """A mask, which is polygons or run lengths, as numbers or as a text.

    `size` is the width and height of the image.
    """
    if not shape:
        raise SystemExit(f"{place} is empty: it has no mask.")
    if isinstance(shape, list):
        return draw_polygons(shape, image, size, place)
    found, counts = read_values(shape, ["size", "counts"], place)
    width, height = size
    if found != [height, width]:
        raise SystemExit(f"{place} has the size {found}. {image} has {[height, width]}.")
    counts = read_counts(counts) if isinstance(counts, str) else counts
    right = isinstance(counts, list) and all(type(n) is int and n >= 0 for n in counts)
    if not right or sum(counts) != width * height or not sum(counts[1::2]):
        raise SystemExit(
            f"{place}: the counts are not those of a mask of {width} x {height} pixels."
        )
    return coco.frPyObjects({"size": found, "counts": counts}, height, width)


def read_counts(text: str) -> list[int]:
    """Run lengths that are a text: five bits in each character, as COCO writes them.

    From the fourth on, a length is the difference to the last but one. pycocotools reads this, too,
    but does not notice a wrong text.
    """
    counts: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:  # the last character of a number, with its sign
            value -= (bits & 16) // 16 << shift
            counts.append(value + (counts[-2] if len(counts) > 2 else 0))
            value = shift = 0
    return counts


def is_relative(points: object) -> bool:
    """Whether all coordinates are from 0 to 1."""
    return (
        isinstance(points, list)
        and bool(points)
        and all(isinstance(value, int | float) and value <= 1 for value in points)
    )


def draw_polygons(polygons: list, image: Path, size: tuple[int, int], place: str) -> dict:
    """The mask of an object whose parts are polygons: lists of x, y, x, y, ... in pixels.

    Raises SystemExit for one that has no three points, or is not in the image, up to a pixel.
    """
    width, height = size
    if polygons and all(is_relative(points) for points in polygons):
        raise SystemExit(f"{place} is within one pixel: points are in pixels, not from 0 to 1.")
    for points in polygons:
        right = isinstance(points, list) and all(type(value) in (int, float) for value in points)
        if not right or len(points) < 6 or len(points) % 2:
            raise SystemExit(f"{place}: {points!r:.60} is not x and y of three points or more.")
        for x, y in zip(points[::2], points[1::2], strict=True):
            if not (-1 <= x <= width + 1 and -1 <= y <= height + 1):
                raise SystemExit(
                    f"{place}: the point {x:g}, {y:g} of the mask is not within {image}, "
                    f"{width} x {height} pixels."
                )
    return coco.merge(coco.frPyObjects(polygons, height, width))
