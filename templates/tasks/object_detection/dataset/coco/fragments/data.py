import json
from functools import cache

#: slot build_datasets
@cache
def read_coco(folder: Path) -> tuple[Path, dict]:
    """The COCO file of a folder, and its content.

    It is the only .json file there, or in the subfolder annotations.
    """
    paths = sorted([*folder.glob("*.json"), *folder.glob("annotations/*.json")])
    if len(paths) != 1:
        found = ", ".join(path.name for path in paths) or "none"
        raise SystemExit(f"{folder} needs one .json file with the annotations, and has {found}.")
    try:
        content = json.loads(read_text(paths[0]))
    except ValueError as error:
        raise SystemExit(f"{paths[0]} is not JSON: {error}") from error
    names = "images", "annotations", "categories"
    if not (isinstance(content, dict) and content.keys() >= {*names}):
        raise SystemExit(f"{paths[0]} is not a COCO file with images, annotations and categories.")
    if not all(isinstance(content[name], list) for name in names):
        raise SystemExit(f"{paths[0]}: images, annotations and categories must be lists.")
    return paths[0], content


def read_values(row, keys: list[str], place: str) -> list:
    """The values of an object of the file, which must have all of them."""
    if not isinstance(row, dict) or (missing := [key for key in keys if key not in row]):
        raise SystemExit(f"{place} has no {missing[0] if isinstance(row, dict) else keys[0]!r}.")
    return [row[key] for key in keys]


def read_categories(folder: Path) -> dict[int, str]:
    """The names of the classes by their id, in the order of the ids."""
    path, content = read_coco(folder)
    names: dict[int, str] = {}
    for number, row in enumerate(content["categories"]):
        place = f"{path}, categories[{number}]"
        key, name = read_values(row, ["id", "name"], place)
        if not isinstance(key, int) or not isinstance(name, str):
            raise SystemExit(f"{place} needs a whole number as id and a text as name.")
        if key in names or name in names.values():
            raise SystemExit(f"{place}: another category has the id {key} or the name {name!r}.")
        names[key] = name
    return dict(sorted(names.items()))


def class_names(config) -> list[str]:
    #: slot saved_names
    return [*read_categories(part_folder(config, "train")).values()]


def read_part(config, name: str) -> list[Annotated]:
    """The images of a part, which are beside the file of annotations or in images/."""
    folder = part_folder(config, name)
    (path, content), names, rows = read_coco(folder), read_categories(folder), {}
    for number, row in enumerate(content["images"]):
        place = f"{path}, images[{number}]"
        key, file, *size = read_values(row, ["id", "file_name", "width", "height"], place)
        places = folder / f"{file}", folder / f"images/{file}"
        found = [image for image in places if image.is_file()]
        if not found:
            raise SystemExit(f"{place}: there is no {file} in {folder} or {folder / 'images'}.")
        if (actual := image_size(found[0])) != tuple(size):
            raise SystemExit(f"{place}: {found[0]} has {actual} pixels, not {tuple(size)}.")
        if key in rows:
            raise SystemExit(f"{place}: another image has the id {key}.")
        rows[key] = Annotated(found[0], actual)
    for number, row in enumerate(content["annotations"]):
        place = f"{path}, annotations[{number}]"
        image, category, box = read_values(row, ["image_id", "category_id", "bbox"], place)
        for key, known in (("image_id", rows), ("category_id", names)):
            if row[key] not in known:
                raise SystemExit(f"{place}: there is no {key.removesuffix('_id')} {row[key]!r}.")
        try:
            left, top, width, height = map(float, box)
        except (TypeError, ValueError) as error:
            raise SystemExit(
                f"{place}: bbox is {box!r}, not left, top, width and height in pixels."
            ) from error
        box = [left, top, left + width, top + height]
        rows[image].add(box, names[category], place, crowd=bool(row.get("iscrowd")))
        #: slot outline
    return list(rows.values())
