from functools import cache
from xml.etree import ElementTree

#: slot build_datasets
def class_names(config) -> list[str]:
    """The names of the classes in the training data, sorted."""
    #: slot saved_names
    return sorted({label for row in read_part(config, "train") for label in row.labels})


def read_part(config, name: str) -> list[Annotated]:
    """The images of a part, with an .xml file in Annotations/ for each in JPEGImages/."""
    return read_voc(part_folder(config, name))


@cache
def read_voc(folder: Path) -> list[Annotated]:
    paths = sorted((folder / "Annotations").glob("*.xml"))
    if not paths:
        raise SystemExit(f"{folder / 'Annotations'} has no .xml files.")
    return [read_file(path, folder / "JPEGImages") for path in paths]


def read_file(path: Path, images: Path) -> Annotated:
    """The objects of an image. Pixels are counted from 1, and a box ends with its last pixel."""
    try:
        root = ElementTree.fromstring(read_text(path))
    except ElementTree.ParseError as error:
        raise SystemExit(f"{path} is not XML: {error}") from error
    image = images / (root.findtext("filename") or f"{path.stem}.jpg")
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
        row.add([left - 1, top - 1, right, bottom], label, place)
    return row
