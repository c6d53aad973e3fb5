#: when dataset=coco
from lib.coco import find_part, read_annotations, read_categories, read_images, read_values
from lib.polygons import read_mask
from accelerate import PartialState

#: slot build_datasets
def class_names(config) -> list[str]:
    return [*read_categories(find_part(config, "train")).values()]


def read_part(config, name: str) -> list[Annotated]:
    """The images of a split, each with its objects."""
    path = find_part(config, name)
    names, empty = read_categories(path), 0
    rows = {key: Annotated(*file) for key, file in read_images(path).items()}
    for place, row in read_annotations(path, rows):
        image, [box] = rows[row["image_id"]], read_values(row, ["bbox"], place)
        try:
            left, top, width, height = map(float, box)
        except (TypeError, ValueError) as error:
            raise SystemExit(
                f"{place}: bbox is {box!r}, not left, top, width and height in pixels."
            ) from error
        if width == 0 or height == 0:  # as two objects of COCO 2017
            empty += 1
            continue
        box = [left, top, left + width, top + height]
        if row.get("iscrowd") not in (None, 0, 1):
            raise SystemExit(f"{place}: iscrowd is {row['iscrowd']!r}, not 0 or 1.")
        image.add(box, names[row["category_id"]], place, crowd=bool(row.get("iscrowd")))
        #: slot outline
    if empty:
        PartialState().print(f"{path}: {empty} object(s) without width or height left out")
    return list(rows.values())

#: slot outline when find=masks
[shape] = read_values(row, ["segmentation"], place)
image.masks.append(read_mask(shape, image.image, image.size, f"{place}, segmentation"))
