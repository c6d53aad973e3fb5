from dataclasses import dataclass, field
from pathlib import Path

from masks import decode

#: slot build_datasets
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
        if not (left >= -1 and top >= -1 and right <= width + 1 and bottom <= height + 1):
            raise SystemExit(f"{place} is not within {self.image}, {width} x {height} pixels.")
        box = [max(left, 0.0), max(top, 0.0), min(right, float(width)), min(bottom, float(height))]
        self.boxes.append(box)
        self.labels.append(label)
        self.crowd.append(crowd)


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
    names, parts = class_names(config), {}
    # a fixed seed: another --seed must not move test images into the training data
    rng = torch.Generator().manual_seed(0)
    for name in ("train", "val", "test"):
        if find_part(config, name):
            parts[name] = read_part(config, name)
        elif len(parts["train"]) < 10:
            raise SystemExit(f"{config.path} has too few images to split: use 11, or add {name}/.")
        else:
            parts["train"], parts[name] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    for name, rows in parts.items():
        if all(crowd for row in rows for crowd in row.crowd):
            raise SystemExit(
                f"{config.path} has no objects in its {len(rows)} images for {name}: add some."
            )
        for row in rows:
            if wrong := {*row.labels} - {*names}:
                raise SystemExit(
                    f"{row.image} has an object {min(wrong)!r}. The training data has "
                    f"{', '.join(names)}."
                )
    return [BoxedImages(list(rows), names, config.image_size) for rows in parts.values()]

#: slot outlines when find=masks
masks: list[dict] = field(default_factory=list)  # as COCO's run lengths

#: slot masks when find=masks
"masks": scale_masks(row.masks, self.size),

#: slot build_datasets when find=masks
def scale_masks(rows: list[dict], size: int) -> Tensor:
    """Masks, scaled as their image, shape (objects, size, size)."""
    masks = torch.zeros(len(rows), size, size, dtype=torch.bool)
    for mask, runs in zip(masks, rows, strict=True):
        pixels = Image.fromarray(decode(runs).numpy())
        mask[:] = torch.from_numpy(np.array(pixels.resize((size, size), Image.Resampling.NEAREST)))
    return masks
