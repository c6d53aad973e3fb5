import yaml

#: slot build_datasets
def class_names(config) -> list[str]:
    """The names of the classes, in the order of their numbers: `names` in data.yaml."""
    #: slot saved_names
    path = Path(config.path, "data.yaml")
    names = read_yaml(path).get("names")
    if not names:
        raise SystemExit(f"{path} has no names of classes.")
    if isinstance(names, list):
        names = dict(enumerate(names))
    if not isinstance(names, dict) or {*names} != {*range(len(names))}:
        raise SystemExit(f"{path}: names must be a list, or numbers from 0 with a name for each.")
    found = [str(names[number]) for number in range(len(names))]
    if twice := [name for name in found if found.count(name) > 1]:
        raise SystemExit(f"{path} has the name {twice[0]!r} twice.")
    return found


def read_yaml(path: Path) -> dict:
    try:
        content = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise SystemExit(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    return content if isinstance(content, dict) else {}


def find_part(config, name: str) -> list[Path]:
    """The folders of a split's images: as in data.yaml, or train/images/, or images/train/.

    Without them, images/ has the training data. data.yaml can also name files that list images.
    """
    folder = Path(config.path)
    content = read_yaml(folder / "data.yaml")
    if named := content.get(name):
        roots = [folder / str(content.get("path", "")), folder]
        named = named if isinstance(named, list) else [named]
        return [find_named(roots, f"{one}") for one in named]
    images = folder / "images"
    for path in (find_split(folder, name) / "images", find_split(images, name)):
        if path.is_dir():
            return [path]
    if name != "train":
        return []
    if not images.is_dir():
        raise SystemExit(f"{images} is missing: images/ and labels/ belong together.")
    return [images]


def find_named(roots: list[Path], name: str) -> Path:
    """A folder or file that data.yaml names."""
    for root in roots:
        for path in (root / name, root / name.removeprefix("../")):  # Roboflow: ../train/images
            if path.exists():
                return path
    raise SystemExit(f"{roots[-1] / 'data.yaml'} names {name}, which is no folder or file.")


def list_images(place: Path) -> list[Path]:
    """The images in a folder and its subfolders, or those that a file lists, one in each line."""
    if place.is_dir():
        found = [path for path in place.rglob("*") if not path.name.startswith(".")]
        return sorted(path for path in found if path.is_file() and path.suffix != ".txt")
    return [place.parent / line.strip() for line in read_text(place).splitlines() if line.strip()]


def label_place(path: Path) -> Path:
    """A path with `labels` instead of the last `images`, or the same path."""
    before, found, after = f"/{path.as_posix()}/".rpartition("/images/")
    return Path(f"{before}/labels/{after}"[1:]) if found else path


def read_part(config, name: str) -> list[Annotated]:
    """The images of a split, each with a .txt file of the same name in the folder of labels.

    An image without such a file has no objects.
    """
    names, rows, places = class_names(config), [], find_part(config, name)
    # images/ can have the training data, and images/val/ within it
    others = [part for other in ("val", "test") for part in find_part(config, other)]
    held_out = {image for part in others for image in list_images(part)}
    used = {label_place(image).with_suffix(".txt") for image in held_out}
    for image in [image for place in places for image in list_images(place)]:
        if name == "train" and image in held_out:
            continue
        row, labels = Annotated(image, image_size(image)), label_place(image).with_suffix(".txt")
        if labels.is_file():
            for number, line in enumerate(read_text(labels).split("\n"), start=1):
                if line.strip():
                    read_line(line, row, names, f"{labels}, line {number}")
        rows.append(row)
        used.add(labels)
    for folder in filter(Path.is_dir, places):
        for path in sorted(label_place(folder).rglob("*.txt")):
            if path.name != "classes.txt" and path not in used:
                raise SystemExit(f"{path} has no image in {folder}.")
    return rows


#: region read_line
def read_line(line: str, row: Annotated, names: list[str], place: str) -> None:
    """Add an object: its class, and x and y of its center, width and height from 0 to 1."""
    try:
        label, *box = line.split()
        number, (x, y, width, height) = int(label), map(float, box)
    except ValueError as error:
        raise SystemExit(
            f"{place}: {line!r:.60} is not a class, x, y, width and height from 0 to 1."
        ) from error
    if not 0 <= number < len(names):
        raise SystemExit(f"{place} has the class {number}. data.yaml has {len(names)} names.")
    across, down = row.size
    corners = [x - width / 2, y - height / 2, x + width / 2, y + height / 2]
    box = [part * size for part, size in zip(corners, (across, down) * 2, strict=True)]
    row.add(box, names[number], place)
#: end read_line
