import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from audio import SUFFIXES, find_sounds, measure_sound, read_sound

#: slot build_datasets
PARTS = ("train", "val", "test")


class Clip(NamedTuple):
    """A sound file, the name of its class, and its length."""

    path: Path
    label: str
    seconds: float


def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    labels = {name: label for label, name in enumerate(class_names(config))}
    return [
        Sounds([clip.path for clip in part], [labels[clip.label] for clip in part], config)
        for part in load_clips(config)
    ]


@cache
def load_clips(config) -> list[list[Clip]]:
    """The clips for training, validation and test. A missing split is a tenth of the rest.

    Raises SystemExit for a file that is missing, is empty or can't be read.
    """
    path = Path(config.path)
    if path.suffix.lower() == ".csv":
        parts = read_table(path)
    elif path.is_dir():
        parts = read_folder(path)
    else:
        raise SystemExit(
            f"{path} is not a folder: set --path to the one with the sounds, or to a .csv file."
        )
    if not parts["train"]:
        raise SystemExit(f"{path} has no sounds to train on. Files end in {', '.join(SUFFIXES)}.")
    names = {clip.label for clip in parts["train"]}
    if len(names) < 2:
        raise SystemExit(f"{path} has one class, {names.pop()}: a classifier needs two.")
    for part in PARTS:
        if others := [clip for clip in parts[part] if clip.label not in names]:
            raise SystemExit(f"{others[0].path} has a class without training data.")
    # a fixed seed: another --seed must not move test sounds into the training data
    rng = torch.Generator().manual_seed(0)
    for part in ("val", "test"):
        if not parts[part]:
            if len(parts["train"]) < 10:
                raise SystemExit(
                    f"{path} has too few sounds to split: use 11, or add a part {part}."
                )
            parts["train"], parts[part] = random_split(parts["train"], [0.9, 0.1], generator=rng)
    return [list(parts[part]) for part in PARTS]


def read_folder(folder: Path) -> dict[str, list[Clip]]:
    """The clips of each part: train/, val/ and test/, with a subfolder for each class.

    Without train/, the folder itself holds the classes.
    """
    parts = {part: read_classes(find_split(folder, part)) for part in PARTS}
    if not parts["train"]:
        parts["train"] = [clip for clip in read_classes(folder) if clip.label not in PARTS]
    return parts


def read_classes(folder: Path) -> list[Clip]:
    """The clips in the subfolders of a folder. The name of a subfolder is a class."""
    places = sorted(path for path in folder.glob("*") if path.is_dir())
    return [read_clip(path, place.name) for place in places for path in find_sounds(place)]


def read_table(path: Path) -> dict[str, list[Clip]]:
    """The clips of each part of a .csv file with the columns file, label and optionally split."""
    parts = {part: [] for part in PARTS}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            if missing := {"file", "label"} - {*(rows.fieldnames or ())}:
                raise SystemExit(
                    f"{path}, line 1 has no {min(missing)}. Columns, with commas between them: "
                    "file,label[,split]."
                )
            for row in rows:
                place = f"{path}, line {rows.line_num}"
                if None in row:
                    raise SystemExit(f"{place} has more columns than the header.")
                for column in ("file", "label"):
                    if not row.get(column):
                        raise SystemExit(f"{place} has no {column}. Columns: file,label[,split].")
                part = row.get("split") or "train"
                if part not in PARTS:
                    raise SystemExit(f"{place}: split is {', '.join(PARTS)}, not {part!r}.")
                parts[part].append(read_clip(path.parent / row["file"], row["label"], f"{place}: "))
    except (OSError, ValueError, csv.Error) as error:
        raise SystemExit(f"{path} can't be read as CSV: {error}") from error
    return parts


def read_clip(path: Path, label: str, place: str = "") -> Clip:
    """A clip of a file that was checked. `place` is put before an error message."""
    try:
        return Clip(path, label, measure_sound(path))
    except OSError as error:
        raise SystemExit(f"{place}{error}") from error


def class_names(config) -> list[str]:
    """The names of the classes. A label is an index into this list."""
    #: slot saved_names
    return sorted({clip.label for part in load_clips(config) for clip in part})

#: replace sound
sound = read_sound(self.sounds[index], sample_rate(self.config))
