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


def find_part(config, name: str) -> Path | None:
    """The folder of a split's images: as in data.yaml, or train/images/, or images/train/.

    Without them, images/ has the training data.
    """
    folder = Path(config.path)
    if named := read_yaml(folder / "data.yaml").get(name):
        path = folder / str(named)
        if not path.is_dir():  # Roboflow writes ../train/images
            path = folder / str(named).removeprefix("../")
        if not path.is_dir():
            raise SystemExit(f"{folder / 'data.yaml'}: {name} is {named!r}, which is not a folder.")
        return path
    images = folder / "images"
    for path in (find_split(folder, name) / "images", find_split(images, name)):
        if path.is_dir():
            return path
    if name != "train":
        return None
    if not images.is_dir():
        raise SystemExit(f"{images} is missing: images/ and labels/ belong together.")
    return images


def label_folder(images: Path) -> Path:
    """The folder with `labels` instead of the last `images`, or the same folder."""
    before, found, after = f"/{images.as_posix()}/".rpartition("/images/")
    return Path(f"{before}/labels/{after}"[1:]) if found else images


def read_part(config, name: str) -> list[Annotated]:
    """The images of a split, each with a .txt file of the same name in the folder of labels.

    An image without such a file has no objects.
    """
    folder, names, rows = find_part(config, name), class_names(config), []
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    paths = [path for path in files if path.suffix != ".txt"]
    found = [path for path in label_folder(folder).glob("*.txt") if path.name != "classes.txt"]
    labels = {path.stem: path for path in found}
    if lost := sorted({*labels} - {path.stem for path in paths}):
        raise SystemExit(f"{labels[lost[0]]} has no image in {folder}.")
    for path in paths:
        row = Annotated(path, image_size(path))
        if path.stem in labels:
            for number, line in enumerate(read_text(labels[path.stem]).split("\n"), start=1):
                if line.strip():
                    read_line(line, row, names, f"{labels[path.stem]}, line {number}")
        rows.append(row)
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
