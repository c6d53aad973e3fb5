"""What projects get from templates/lib, called directly. A section for each of its files."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")

TEMPLATES = Path(__file__).parents[1] / "templates"


def load(name: str) -> ModuleType:
    """A file of the library."""
    if str(TEMPLATES) not in sys.path:
        sys.path.append(str(TEMPLATES))
    return importlib.import_module(f"lib.{name}")


# images


def test_a_picture_of_16_bits_keeps_its_grays() -> None:
    gray = Image.fromarray(np.full((2, 3), 257 * 100, np.uint16))
    picture = load("images").to_rgb(gray)
    assert picture.mode == "RGB" and picture.getpixel((0, 0)) == (100, 100, 100)
    with pytest.raises(ValueError, match="32 bits"):
        load("images").to_rgb(Image.new("F", (2, 2)))


def test_a_turned_photo_is_read_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by 90 degrees
    Image.new("RGB", (40, 30), "red").save(tmp_path / "a.jpg", exif=exif)
    assert load("images").image_size(tmp_path / "a.jpg") == (30, 40)
    assert load("images").open_image(tmp_path / "a.jpg").size == (30, 40)


def test_an_unreadable_image_is_named(tmp_path: Path) -> None:
    images, path = load("images"), tmp_path / "a.png"
    path.write_text("text")
    for read in (lambda: images.open_image(path), lambda: images.read_image(path, None)):
        with pytest.raises(images.UnreadableImage, match=r"a\.png can't be read as an image"):
            read()
    with pytest.raises(SystemExit, match="remove it"):
        images.check_images([path])
    for stored, message in ((None, "row 2 has no image"), ({"bytes": b"text"}, "row 2 can't be")):
        with pytest.raises(images.UnreadableImage, match=message):
            images.read_stored(stored, "row 2", None)


# image_squares, image_bytes, scaled_images


def test_squares_are_center_crops() -> None:
    picture = Image.new("RGB", (40, 20), "black")
    picture.paste((255, 255, 255), (6, 0, 34, 20))
    numbers = load("image_squares").to_square(picture, 8)
    assert numbers.shape == (3, 8, 8) and numbers.dtype == torch.float32
    assert (numbers == 1).all(), "the middle of the picture is white"
    assert torch.equal(load("image_bytes").to_square(picture, 8), (255 * numbers).byte())
    scaled = load("scaled_images").to_tensor(picture, 8)
    assert scaled.shape == (3, 8, 8) and scaled[0, 0, 0] < 0.5, "its edges are black"


# folders, image_folders


def test_validation_data_has_three_names(tmp_path: Path) -> None:
    find_split = load("folders").find_split
    (tmp_path / "train").mkdir()
    assert find_split(tmp_path, "val") == tmp_path / "val"
    (tmp_path / "valid").mkdir()
    assert find_split(tmp_path, "val") == tmp_path / "valid"
    (tmp_path / "validation").mkdir()
    with pytest.raises(SystemExit, match="are both validation data"):
        find_split(tmp_path, "val")


def test_folders_are_classes(tmp_path: Path) -> None:
    folders = load("image_folders")
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (9, 9)).save(tmp_path / name / "0.png")
    (tmp_path / "a" / "notes.txt").write_text("no image")
    paths = folders.find_images(tmp_path)
    assert [path.parent.name for path in paths] == ["a", "b"]
    parts = {"train": paths, "val": [], "test": []}
    data = folders.LabelledFiles(paths, 4, folders.find_classes(parts))
    assert [(image.shape, label) for image, label in (data[0], data[1])] == [
        ((3, 4, 4), 0),
        ((3, 4, 4), 1),
    ]
    with pytest.raises(SystemExit, match="use two, or more"):
        folders.find_classes({**parts, "train": paths[:1]})


# coco, polygons


def test_coco_files_are_read_and_checked(tmp_path: Path) -> None:
    coco, path = load("coco"), tmp_path / "train.json"
    Image.new("RGB", (8, 6)).save(tmp_path / "a.png")
    image = {"id": 7, "file_name": "a.png", "width": 8, "height": 6}
    objects = [{"image_id": 7, "category_id": 2, "bbox": [0, 0, 2, 2]}]
    content = {"images": [image], "annotations": objects, "categories": [{"id": 2, "name": "cup"}]}
    path.write_text(json.dumps(content))
    rows = coco.read_images(path)
    assert rows == {7: (tmp_path / "a.png", (8, 6))}
    assert coco.read_categories(path) == {2: "cup"}
    assert [row for _, row in coco.read_annotations(path, rows)] == objects
    with pytest.raises(SystemExit, match="there is no image 7"):
        list(coco.read_annotations(path, {}))


def test_masks_are_polygons_or_run_lengths() -> None:
    pytest.importorskip("pycocotools")
    from pycocotools import mask

    polygons, image = load("polygons"), Path("a.png")
    square = polygons.read_mask([[0, 0, 4, 0, 4, 3, 0, 3]], image, (8, 6), "object 1")
    assert mask.decode(square).sum() == 12 and square["size"] == [6, 8]
    counts = mask.encode(np.asfortranarray(mask.decode(square)))["counts"].decode()
    again = polygons.read_mask({"size": [6, 8], "counts": counts}, image, (8, 6), "object 1")
    assert (mask.decode(again) == mask.decode(square)).all()
    for shape, message in (
        ([[0, 0, 9.5, 0, 4, 3]], "is not within a.png, 8 x 6 pixels"),
        ({"size": [8, 6], "counts": counts}, "a.png has \\[6, 8\\]"),
        ([], "it has no mask"),
    ):
        with pytest.raises(SystemExit, match=message):
            polygons.read_mask(shape, image, (8, 6), "object 1")


# transforms


def test_another_transform_leaves_the_original() -> None:
    from torch.utils.data import ConcatDataset, Subset

    class Data(list):
        transform = "old"

    data = Data([1, 2])
    changed = load("transforms").with_transform(Subset(ConcatDataset([data]), [0]), "new")
    assert changed.dataset.datasets[0].transform == "new" and data.transform == "old"
    with pytest.raises(TypeError, match="has no attribute `transform`"):
        load("transforms").with_transform([1], "new")


# image_layers, contrast, photos


def test_layers_follow_the_size_of_images() -> None:
    assert load("image_layers").choose_widths(8) == [16, 32]
    assert load("image_layers").choose_widths(256) == [16, 32, 64, 128, 128, 128, 128]


def test_a_loss_among_others_is_that_of_cross_entropy() -> None:
    pytest.importorskip("accelerate")
    rows = torch.randn(4, 3, dtype=torch.float64)
    losses = load("contrast").contrast(rows[:, :1], rows[:, 1:], temperature=0.5)
    first = torch.zeros(4, dtype=torch.long)
    expected = torch.nn.functional.cross_entropy(rows / 0.5, first, reduction="none")
    torch.testing.assert_close(losses, expected)


def test_photos_are_rgb(tmp_path: Path) -> None:
    Image.new("L", (5, 4), 9).save(tmp_path / "a.png")
    assert load("photos").read_image(tmp_path / "a.png").getpixel((0, 0)) == (9, 9, 9)
    with pytest.raises(SystemExit, match=r"b\.png can't be read as an image"):
        load("photos").read_image(tmp_path / "b.png")
