#: into data.py at build_datasets
"""Images whose objects are in a .json file, as in COCO."""

import json
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

from lib.folders import find_split, list_shown, read_text
from lib.image_folders import SUFFIXES
from lib.images import image_size
from lib.names import check_once, check_spelling
from lib.notes import note


def find_part(config, name: str) -> Path | None:
    """The COCO file of a split: in its folder, or annotations/instances_<split>*.json.

    Without them, the .json file at the path or in annotations/ has the training data.
    """
    folder = Path(config.path)
    split = find_split(folder, name)
    paths = find_files(split, "*.json", "annotations/*.json")
    paths = paths or find_files(folder, f"annotations/instances_{name}*.json")
    paths = paths or find_files(folder, f"annotations/{name}*.json")
    if name == "train" and not paths:
        others = [find_part(config, "val"), find_part(config, "test")]
        found = find_files(folder, "*.json", "annotations/*.json")
        paths = [path for path in found if path not in others]
    elif not paths and not split.is_dir():
        return None
    if len(paths) != 1:
        place, named = split if split.is_dir() else folder, ", ".join(path.name for path in paths)
        raise SystemExit(
            f"{place} needs one .json file with the annotations for {name}, and has "
            f"{named or 'none'}."
        )
    return paths[0]


def find_files(folder: Path, *patterns: str) -> list[Path]:
    found = [path for pattern in patterns for path in folder.glob(pattern)]
    return sorted(path for path in found if not path.name.startswith("."))


@cache
def read_coco(path: Path) -> dict:
    """The content of a COCO file."""
    try:
        content = json.loads(read_text(path))
    except ValueError as error:
        raise SystemExit(f"{path} is not JSON: {error}") from error
    names = "images", "annotations", "categories"
    if not (isinstance(content, dict) and content.keys() >= {*names}):
        raise SystemExit(f"{path} is not a COCO file with images, annotations and categories.")
    if not all(isinstance(content[name], list) for name in names):
        raise SystemExit(f"{path}: images, annotations and categories must be lists.")
    return content


def read_values(row, keys: list[str], place: str) -> list:
    """The values of an object of the file, which must have all of them."""
    if not isinstance(row, dict) or (missing := [key for key in keys if key not in row]):
        raise SystemExit(f"{place} has no {missing[0] if isinstance(row, dict) else keys[0]!r}.")
    return [row[key] for key in keys]


def read_categories(path: Path) -> dict[int, str]:
    """The names of the classes by their id, in the order of the ids."""
    names: dict[int, str] = {}
    for number, row in enumerate(read_coco(path)["categories"]):
        place = f"{path}, categories[{number}]"
        key, name = read_values(row, ["id", "name"], place)
        if not isinstance(key, int) or not isinstance(name, str):
            raise SystemExit(f"{place} needs a whole number as id and a text as name.")
        if key in names or name in names.values():
            raise SystemExit(f"{place}: another category has the id {key} or the name {name!r}.")
        names[key] = name
    rows = read_coco(path)["categories"]
    places = {row["name"]: f"{path}, categories[{n}]" for n, row in enumerate(rows)}
    check_spelling(places, "category")
    return dict(sorted(names.items()))


def image_folders(path: Path) -> list[Path]:
    """Where the images of a COCO file can be: for instances_train2017.json in train2017/, too."""
    folder = path.parent.parent if path.parent.name == "annotations" else path.parent
    split = path.stem.removeprefix("instances_")
    places = [folder, folder / "images", folder / split, folder / "images" / split]
    return [place for place in places if place.is_dir()]


def read_images(path: Path) -> dict[int | str, tuple[Path, tuple[int, int]]]:
    """The images of a COCO file by their id, each with its width and height, as the file has them.

    Raises SystemExit if an image is missing, or has another size.
    """
    folders, rows = image_folders(path), {}
    for number, row in enumerate(read_coco(path)["images"]):
        place = f"{path}, images[{number}]"
        key, file, *size = read_values(row, ["id", "file_name", "width", "height"], place)
        found = [folder / f"{file}" for folder in folders if (folder / f"{file}").is_file()]
        if not found:
            places = " or ".join(map(str, folders))
            raise SystemExit(f"{place}: there is no {file} in {places}.")
        if (actual := image_size(found[0])) != tuple(size):
            hint = " Its EXIF data turns it." if [*actual] == size[::-1] else ""
            raise SystemExit(f"{place}: {found[0]} has {actual} pixels, not {tuple(size)}.{hint}")
        if not isinstance(key, int | str) or key in rows:
            raise SystemExit(f"{place}: {key!r} is not an id, or another image has it.")
        rows[key] = found[0], actual
    if len(find_files(path.parent, "*.json")) == 1:  # else another one may list them
        listed = {image.resolve() for image, _ in rows.values()}
        shown = [image for folder in folders for image in list_shown(folder)]
        images = [image for image in shown if image.suffix.lower() in SUFFIXES]
        if others := [image for image in images if image.resolve() not in listed]:
            note(f"{path}: ignored: {len(others):,} images that it does not list, as {others[0]}")
    check_once((f"{path}, the image {key!r}", image) for key, (image, _) in rows.items())
    return rows


def read_annotations(path: Path, rows: Container[int | str]) -> Iterator[tuple[str, dict]]:
    """The objects of a COCO file, each after its place in the file, for error messages.

    Raises SystemExit for one whose image is not in `rows`, or whose category is not in the file.
    """
    names = read_categories(path)
    for number, row in enumerate(read_coco(path)["annotations"]):
        place = f"{path}, annotations[{number}]"
        values = read_values(row, ["image_id", "category_id"], place)
        for name, value, known in zip(("image", "category"), values, (rows, names), strict=True):
            if not isinstance(value, int | str) or value not in known:
                raise SystemExit(f"{place}: there is no {name} {value!r}.")
        yield place, row
