from functools import cache
from xml.etree import ElementTree

#: slot build_datasets
def class_names(config) -> list[str]:
    """The names of the classes in the training data, sorted."""
    #: slot saved_names
    return sorted({label for row in read_part(config, "train") for label in row.labels})


def find_part(config, name: str) -> Path | None:
    """The folder of a split, or its list of images: ImageSets/Main/train.txt.

    Without them, the images that are in no other list are training data.
    """
    folder = Path(config.path)
    places = [find_split(folder, name), folder / "ImageSets" / "Main" / f"{name}.txt"]
    if found := [place for place in places if place.exists()]:
        return found[0]
    return folder if name == "train" else None


def read_part(config, name: str) -> list[Annotated]:
    """The images of a split, with an .xml file in Annotations/ for each in JPEGImages/."""
    part, folder = find_part(config, name), Path(config.path)
    if part == folder:
        parts = [find_part(config, "val"), find_part(config, "test")]
        others = {stem for other in parts if other for stem in read_list(other)}
        return [row for stem, row in read_voc(folder).items() if stem not in others]
    if part.is_dir():
        return [*read_voc(part).values()]
    rows = read_voc(folder)
    if lost := [stem for stem in read_list(part) if stem not in rows]:
        raise SystemExit(f"{part} names {lost[0]}, which has no .xml file in Annotations/.")
    return [rows[stem] for stem in read_list(part)]


def read_list(path: Path) -> list[str]:
    """The first word of each line in a list of images. A folder has none."""
    if path.is_dir():
        return []
    return [line.split()[0] for line in read_text(path).splitlines() if line.strip()]


@cache
def read_voc(folder: Path) -> dict[str, Annotated]:
    """All images of a folder by the names of their .xml files, in the order of the names.

    They are in Annotations/ and JPEGImages/, or in annotations/ and images/, or side by side.
    """
    files = find_folder(folder, "Annotations", "annotations")
    images = find_folder(folder, "JPEGImages", "images")
    if not (paths := sorted(files.glob("*.xml"))):
        raise SystemExit(f"{files} has no .xml files.")
    return {path.stem: read_file(path, images) for path in paths}


def find_folder(folder: Path, *names: str) -> Path:
    """The first subfolder of these names, or the folder itself."""
    return next((folder / name for name in names if (folder / name).is_dir()), folder)


def read_file(path: Path, images: Path) -> Annotated:
    """The objects of an image. Pixels are counted from 1, and a box ends with its last pixel.

    As in VOC's own evaluation, `difficult` objects are not learned, and detections of them ignored.
    """
    try:
        root = ElementTree.fromstring(read_text(path))
    except ElementTree.ParseError as error:
        raise SystemExit(f"{path} is not XML: {error}") from error
    image = images / (root.findtext("filename") or f"{path.stem}.jpg")
    if not image.suffix:  # some tools write the name alone
        image = next((file for file in images.glob(f"{image.name}.*") if file != path), image)
    row = Annotated(image, image_size(image))
    for number, part in enumerate(root.iter("object"), start=1):
        place, label = f"{path}, object {number}", part.findtext("name", "").strip()
        if not label:
            raise SystemExit(f"{place} has no name.")
        try:
            ends = ("xmin", "ymin", "xmax", "ymax")
            left, top, right, bottom = (float(part.findtext(f"bndbox/{end}")) for end in ends)
        except (TypeError, ValueError) as error:
            raise SystemExit(
                f"{place} needs a bndbox with numbers: xmin, ymin, xmax and ymax."
            ) from error
        difficult = part.findtext("difficult", "").strip() == "1"
        row.add([left - 1, top - 1, right, bottom], label, place, crowd=difficult)
    return row
