#: file
"""The data: images, shape (batch, 3, size, size), from 0 to 1, and the objects in each of them.

The objects of an image are a dictionary of tensors with a row for each: `boxes`, (objects, 4), with
left, top, right and bottom in pixels, `labels`, their class indices, and `crowd`, which
says whether it is a group of objects: it is not learned, and detections in it are ignored.
"""

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset, default_collate, random_split

#: slot about_masks
Objects = dict[str, Tensor]


def collate(samples: list[tuple[Tensor, Objects]]) -> tuple[Tensor, list[Objects]]:
    """A batch. Each image keeps its own number of objects, which may be 0."""
    images, targets = zip(*samples, strict=True)
    return default_collate(images), list(targets)


#: slot row_readers


#: slot build_datasets


#: slot datasets


#: slot build_loaders
#: end file

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from glob import escape
from math import cos, hypot, pi, sin
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import yaml
from accelerate import PartialState
from PIL import ImageDraw
from pycocotools import mask as coco

from lib.folders import find_split, is_hidden, list_shown, note_others, read_text
from lib.image_folders import SUFFIXES
from lib.images import image_size, open_image
from lib.names import check_once, check_spelling, describe_names
from lib.notes import note
from lib.scaled_images import to_tensor
from masks import decode

#: slot train_batches
collate_fn=collate,

#: replace eval_loaders
val_loader = DataLoader(val_set, collate_fn=collate, **settings)
test_loader = DataLoader(test_set, collate_fn=collate, **settings)

#: slot about_masks when find=masks
# `masks`, (objects, size, size), says which pixels belong to each object

#: slot build_datasets when dataset=shapes
CLASSES = ["disc", "square", "triangle"]


def class_names(config) -> list[str]:
    return CLASSES


def build_datasets(config) -> list[Dataset]:
    """1,200 drawn images and their objects, split into training, validation and test data."""
    rng = Random(0)
    drawn = [draw_shapes(config.image_size, rng) for _ in range(1200)]
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(drawn, [0.8, 0.1, 0.1], generator=split)


def draw_shapes(size: int, rng: Random) -> tuple[Tensor, Objects]:
    """Up to three shapes of any color on noise, without overlap."""
    image = Image.frombytes("RGB", (size, size), rng.randbytes(3 * size * size))
    image = image.point(lambda value: value // 3)
    drawn, boxes, labels = [], [], []
    #: slot no_masks
    for _ in range(rng.randint(0, 3)):
        label = rng.randrange(len(CLASSES))
        radius = rng.uniform(0.1, 0.25) * size
        x, y = (rng.uniform(radius, size - radius) for _ in range(2))
        if any(hypot(x - a, y - b) < radius + other for a, b, other in drawn):
            continue
        drawn.append((x, y, radius))
        color = tuple(rng.randrange(130, 256) for _ in range(3))
        sides, start = [(40, 0.0), (4, pi / 4), (3, pi / 6)][label]
        angles = [start + 2 * pi * side / sides for side in range(sides)]
        corners = [(x + radius * cos(angle), y + radius * sin(angle)) for angle in angles]
        ImageDraw.Draw(image).polygon(corners, fill=color)
        #: slot draw_mask
        horizontal, vertical = zip(*corners, strict=True)
        boxes.append((min(horizontal), min(vertical), max(horizontal), max(vertical)))
        labels.append(label)
    return to_tensor(image, size), {
        "boxes": torch.tensor(boxes, dtype=torch.float32).reshape(-1, 4),
        "labels": torch.tensor(labels, dtype=torch.int64),
        "crowd": torch.zeros(len(boxes), dtype=torch.bool),
        #: slot masks
    }

#: slot build_datasets when dataset=coco|yolo|voc
@dataclass
class Annotated:
    """An image on the disk and its objects. Boxes are in pixels of the upright image."""

    image: Path
    size: tuple[int, int]  # width and height in pixels
    boxes: list[list[float]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    crowd: list[bool] = field(default_factory=list)
    #: slot outlines

    def add(self, box: list[float], label: str, place: str, crowd: bool = False) -> None:
        """Add an object. Raises SystemExit if its box is not in the image, up to a pixel."""
        left, top, right, bottom = box
        width, height = self.size
        place = f"{place}: the box {left:g}, {top:g}, {right:g}, {bottom:g}"
        if not (left < right and top < bottom):
            raise SystemExit(f"{place} is empty: right > left and bottom > top.")
        if right <= 1 and bottom <= 1:
            raise SystemExit(f"{place} is within one pixel: it is in pixels, not from 0 to 1.")
        if not (left >= -1 and top >= -1 and right <= width + 1 and bottom <= height + 1):
            raise SystemExit(f"{place} is not within {self.image}, {width} x {height} pixels.")
        box = [max(left, 0.0), max(top, 0.0), min(right, float(width)), min(bottom, float(height))]
        self.boxes.append(box)
        self.labels.append(label)
        self.crowd.append(crowd)

    def has_double(self) -> bool:
        """Whether an object is there twice: the same box and label."""
        return len({*zip(map(tuple, self.boxes), self.labels, strict=True)}) < len(self.labels)


class BoxedImages(Dataset):
    """RGB images, shape (3, size, size), from 0 to 1, and their objects."""

    def __init__(self, rows: list[Annotated], names: list[str], size: int) -> None:
        self.rows, self.names, self.size = rows, names, size

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Objects]:
        row = self.rows[index]
        scale = self.size / torch.tensor(2 * row.size)
        return to_tensor(open_image(row.image), self.size), {
            "boxes": torch.tensor(row.boxes, dtype=torch.float32).reshape(-1, 4) * scale,
            "labels": torch.tensor([self.names.index(label) for label in row.labels]).long(),
            "crowd": torch.tensor(row.crowd).bool(),
            #: slot masks
        }


def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data. A missing split is a tenth of the training data.

    Raises SystemExit for an invalid image or object, before training starts.
    """
    if not Path(config.path).is_dir():
        raise SystemExit(f"{config.path} is not a folder: set --path to the one with the images.")
    names, parts, places = class_names(config), {}, {}
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("train", "val", "test"):
        if find_part(config, name):
            parts[name] = read_part(config, name)
        elif len(parts["train"]) < 10:
            raise SystemExit(f"{config.path} has too few images to split: use 11, or add {name}/.")
        else:
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    check_once(
        (f"image {number} of the data for {name}", row.image)
        for name, rows in parts.items()
        for number, row in enumerate(rows, start=1)
    )
    for name, rows in parts.items():
        if all(crowd for row in rows for crowd in row.crowd):
            drawn = "" if find_part(config, name) else ", which were drawn from those for train"
            raise SystemExit(
                f"{config.path} has no objects in its {len(rows)} images for {name}{drawn}: add "
                f"images with objects, or data for {name}."
            )
        for row in rows:
            places |= {label: places.get(label, f"{row.image}") for label in row.labels}
            if wrong := {*row.labels} - {*names}:
                raise SystemExit(
                    f"{row.image} has an object {min(wrong)!r}. The training data has "
                    f"{', '.join(names)}."
                )
    check_spelling(places, "class")
    doubles = [row for rows in parts.values() for row in rows if row.has_double()]
    if doubles:
        note(f"{len(doubles):,} images have an object twice, and both count, as {doubles[0].image}")
    for name, rows in zip(("training", "validation", "test"), parts.values(), strict=True):
        empty = sum(not row.labels for row in rows)
        classes = describe_names((label for row in rows for label in row.labels), "classes")
        PartialState().print(f"{name}: {len(rows)} images, {empty} without objects; {classes}")
    return [BoxedImages(list(rows), names, config.image_size) for rows in parts.values()]

#: slot outlines when find=masks dataset=coco|yolo|voc
masks: list[dict] = field(default_factory=list)  # as COCO's run lengths

#: slot masks when find=masks dataset=coco|yolo|voc
"masks": scale_masks(row.masks, self.size),

#: slot build_datasets when find=masks dataset=coco|yolo|voc
def scale_masks(rows: list[dict], size: int) -> Tensor:
    """Masks, scaled as their image, shape (objects, size, size)."""
    masks = torch.zeros(len(rows), size, size, dtype=torch.bool)
    for mask, runs in zip(masks, rows, strict=True):
        pixels = Image.fromarray(decode(runs).numpy())
        mask[:] = torch.from_numpy(np.array(pixels.resize((size, size), Image.Resampling.NEAREST)))
    return masks

#: slot build_datasets when dataset=yolo
def class_names(config) -> list[str]:
    """The names of the classes, in the order of their numbers: `names` in data.yaml."""
    path = Path(config.path, "data.yaml")
    names = read_yaml(path).get("names")
    if not names:
        raise SystemExit(f"{path} has no names of classes.")
    if isinstance(names, list):
        names = dict(enumerate(names))
    if not isinstance(names, dict) or {*names} != {*range(len(names))}:
        raise SystemExit(f"{path}: names must be a list, or numbers from 0 with a name for each.")
    if odd := [name for name in names.values() if isinstance(name, dict | list)]:
        raise SystemExit(f"{path}: {odd[0]} is no name: write a list of texts, as in [cup, ball].")
    if odd := [name for name in names.values() if isinstance(name, bool) or name is None]:
        raise SystemExit(
            f"{path}: a name is {odd[0]}, because YAML reads yes, no, on, off and null as no text: "
            "put each name between quotation marks."
        )
    if (count := read_yaml(path).get("nc", len(names))) != len(names):
        raise SystemExit(f"{path} has {len(names)} names, and says nc: {count}: correct it.")
    found = [str(names[number]) for number in range(len(names))]
    if twice := [name for name in found if found.count(name) > 1]:
        raise SystemExit(f"{path} has the name {twice[0]!r} twice.")
    return found


def read_yaml(path: Path) -> dict:
    """The content of data.yaml, which is small and has no aliases: they can stand for any size."""
    text = read_text(path)
    if len(text) > 1_000_000:
        raise SystemExit(f"{path} has {len(text):,} characters, and may have a million.")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise SystemExit(f"{path} has an alias, as in *name: write its value out.")
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
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
        found = [path for path in place.rglob("*") if not is_hidden(path, place)]
        texts = [path for path in found if path.suffix == ".txt"]  # labels may be beside images
        images = sorted(path for path in found if path.suffix.lower() in SUFFIXES)
        note_others(place, {*found} - {*texts, *images})
        return images
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
    taken: dict[Path, Path] = {}  # the image of each file of labels
    for image in [image for place in places for image in list_images(place)]:
        if name == "train" and image in held_out:
            continue
        row, labels = Annotated(image, image_size(image)), label_place(image).with_suffix(".txt")
        if (other := taken.setdefault(labels, image)) != image:
            raise SystemExit(f"{image} and {other} have the same labels, {labels}: rename one.")
        if labels.is_file():
            for number, line in enumerate(read_text(labels).split("\n"), start=1):
                if line.strip():
                    read_line(line, row, names, f"{labels}, line {number}")
        rows.append(row)
        used.add(labels)
    if not rows:
        raise SystemExit(f"{config.path} has no images for {name}, beside those held out.")
    for folder in filter(Path.is_dir, places):
        labels = label_place(folder)
        for path in sorted(labels.rglob("*.[tT][xX][tT]")):
            if path.name != "classes.txt" and path not in used and not is_hidden(path, labels):
                hint = "" if path.suffix == ".txt" else " Write its ending as .txt."
                raise SystemExit(f"{path} has no image in {folder}.{hint}")
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

#: slot build_datasets when dataset=voc
def class_names(config) -> list[str]:
    """The names of the classes in the training data, sorted."""
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
    if part != folder and part.is_dir():
        return [*read_voc(part).values()]
    rows = read_voc(folder)
    if part == folder:
        parts = [find_part(config, "val"), find_part(config, "test")]
        others = {stem for other in parts if other for stem in read_list(other, rows)}
        return [row for stem, row in rows.items() if stem not in others]
    if lost := [stem for stem in read_list(part, rows) if stem not in rows]:
        raise SystemExit(f"{part} names {lost[0]}, which has no .xml file in Annotations/.")
    return [rows[stem] for stem in read_list(part, rows)]


def read_list(path: Path, known: Collection[str]) -> list[str]:
    """The names in a list of images, which may have spaces. More words may follow them, as 1 or -1.

    A folder has no list.
    """
    if path.is_dir():
        return []
    names = []
    for line in filter(None, map(str.strip, read_text(path).splitlines())):
        whole = [name for name in (line, line.rpartition(" ")[0].strip()) if name in known]
        names.append(whole[0] if whole else line.split()[0])
    return names


@cache
def read_voc(folder: Path) -> dict[str, Annotated]:
    """All images of a folder by the names of their .xml files, in the order of the names.

    They are in Annotations/ and JPEGImages/, or in annotations/ and images/, or side by side.
    """
    files = find_folder(folder, "Annotations", "annotations")
    images = find_folder(folder, "JPEGImages", "images")
    if not (paths := [path for path in list_shown(files) if path.suffix.lower() == ".xml"]):
        raise SystemExit(f"{files} has no .xml files.")
    renamed: list[str] = []
    rows = {path.stem: read_file(path, images, renamed) for path in paths}
    if renamed:
        note(
            f"{files}: {len(renamed):,} files name an image that is not there, as {renamed[0]}: "
            "the one of their own name is taken"
        )
    used = {row.image for row in rows.values()} | {*paths}
    if others := [path for path in list_shown(images) if path.is_file() and path not in used]:
        note(f"{images}: ignored: {len(others)} files without an .xml file, such as {others[0]}")
    check_once((str(path), rows[path.stem].image) for path in paths)
    return rows


def find_folder(folder: Path, *names: str) -> Path:
    """The first subfolder of these names, or the folder itself."""
    return next((folder / name for name in names if (folder / name).is_dir()), folder)


def find_image(path: Path, name: str, images: Path) -> Path:
    """The image that an .xml file names, or else the one that has the name of the .xml file.

    Some tools write a path of their own computer, the name alone, or the name before a renaming.
    """
    name = name.replace("\\", "/").rpartition("/")[2]
    if name and (images / name).is_file():
        return images / name
    for stem in dict.fromkeys([name, path.stem]):
        found = [file for file in images.glob(f"{escape(stem)}.*") if file.suffix.lower() != ".xml"]
        if stem and len(found) == 1:
            return found[0]
    raise SystemExit(f"{path}: there is no image {name or path.stem} in {images}.")


def read_file(path: Path, images: Path, renamed: list[str]) -> Annotated:
    """The objects of an image. Pixels are counted from 1, and a box ends with its last pixel.

    A name of an image that is not there is added to `renamed`.

    As in VOC's own evaluation, `difficult` objects are not learned, and detections of them ignored.
    """
    try:
        root = ElementTree.fromstring(read_text(path))
    except ElementTree.ParseError as error:
        raise SystemExit(f"{path} is not XML: {error}") from error
    name = root.findtext("filename", "").strip()
    image = find_image(path, name, images)
    if Path(name).suffix and Path(name.replace("\\", "/")).name != image.name:
        renamed.append(f"{path.name}: {name}")
    row = Annotated(image, image_size(image))
    size = [root.findtext(f"size/{side}", "0").strip() for side in ("width", "height")]
    if "0" not in size and size != [*map(str, row.size)]:
        raise SystemExit(f"{path}: {image} has {row.size} pixels, not {' x '.join(size)}.")
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
        difficult = part.findtext("difficult", "").strip().lower() in ("1", "true")
        row.add([left - 1, top - 1, right, bottom], label, place, crowd=difficult)
    return row

#: slot datasets when find=masks with augmentation
#: region keep_seen
def keep_seen(objects: Objects) -> Objects:
    """The objects of which a box and a mask are left."""
    boxes, masks = objects["boxes"], objects["masks"]
    seen = (boxes[:, :2] < boxes[:, 2:]).all(dim=1) & masks.flatten(1).any(dim=1)
    return {name: values[seen] for name, values in objects.items()}
#: end keep_seen

#: slot no_masks when find=masks dataset=shapes
masks = torch.zeros(3, size, size, dtype=torch.bool)

#: slot draw_mask when find=masks dataset=shapes
mask = Image.new("1", (size, size))
ImageDraw.Draw(mask).polygon(corners, fill=1)
masks[len(labels)] = torch.from_numpy(np.array(mask))

#: slot masks when find=masks dataset=shapes
"masks": masks[: len(labels)],

#: replace read_line when find=masks dataset=yolo
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
