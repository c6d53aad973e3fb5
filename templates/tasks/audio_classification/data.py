#: file
"""The data: {{ task.inputs_shape }},
their true lengths, shape (batch,), and labels, (batch,).

A length counts {{ task.length_unit }} without the padding at the end.
"""

import torch
from torch import Tensor
from torch.utils.data import Dataset


class Sounds(Dataset):
    """The model input of each sound, its length, and its label."""

    #: region init
    def __init__(self, sounds: list[Tensor], labels: list[int], config) -> None:
        self.sounds, self.labels, self.config = sounds, labels, config
    #: end init

    def __len__(self) -> int:
        return len(self.sounds)

    def __getitem__(self, index: int) -> tuple[Tensor, int, int]:
        #: region sound
        sound = self.sounds[index]
        #: end sound
        return *prepare(sound, self.config), self.labels[index]


#: slot row_readers


#: slot build_datasets


#: slot prepare


#: slot datasets


#: slot build_loaders
#: end file

from functools import cache
from math import pi
from pathlib import Path
from random import Random
from typing import NamedTuple

import torch.nn.functional as F
from torch.utils.data import random_split

from audio import SUFFIXES, find_sounds, measure_sound, read_sound
from lib.cells import read_csv
from lib.names import check_spelling, check_once, count_names
from lib.folders import class_folders, find_split, note_others, note_outside
from lib.notes import note_ignored
from lib.extractors import load_extractor
from lib.sounds import log_mel, normalize
from lib.splits import find_shares, split_by_class

#: slot build_datasets when dataset=tones
KINDS = ("beeps", "falling", "noise", "rising", "steady", "trill")


def build_datasets(config) -> list[Dataset]:
    """1,200 sounds, split into training, validation and test data."""
    rng, rate = Random(0), sample_rate(config)
    labels = [index % len(KINDS) for index in range(1200)]
    sounds = [make_sound(KINDS[label], rate, rng) for label in labels]
    # a fixed seed: another --seed must not move test sounds into the training data
    split = torch.Generator().manual_seed(0)
    return random_split(Sounds(sounds, labels, config), [0.8, 0.1, 0.1], generator=split)


def make_sound(kind: str, rate: int, rng: Random) -> Tensor:
    """A sound of up to a second on background noise, shape (samples,), from -1 to 1."""
    seconds, pitch = rng.uniform(0.4, 1.0), 300 * 2 ** rng.uniform(0, 2)
    time = torch.arange(int(seconds * rate)) / rate
    noise = torch.randn(len(time), generator=torch.Generator().manual_seed(rng.getrandbits(32)))
    sweep = rng.uniform(0.7, 1.5) * (time / seconds - 0.5)
    trill = 0.2 * (2 * pi * rng.uniform(6, 9) * time).sin()
    octaves = {"rising": sweep, "falling": -sweep, "trill": trill}.get(kind, 0 * time)
    tone = (2 * pi * (pitch * 2**octaves / rate).cumsum(dim=0)).sin()
    if kind == "noise":
        tone = noise / 3
    elif kind == "beeps":
        tone = tone * ((2 * pi * rng.uniform(4, 7) * time).sin() > 0)
    loudness, background = rng.uniform(0.1, 0.8), rng.uniform(0.001, 0.05)
    return (loudness * tone + background * noise).clamp(-1, 1)


def class_names(config) -> list[str]:
    """The names of the classes. A label is an index into this list."""
    return list(KINDS)

#: slot build_datasets when dataset=files
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
    """The clips for training, validation and test. A missing split is a share of the rest.

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
    clips, apart = parts["train"], [parts["val"], parts["test"]]
    shares = find_shares(apart, config)
    if any(shares) and len(clips) < 10:
        raise SystemExit(f"{path} has too few sounds to split: use 10, or add parts val and test.")
    divided = split_by_class([clip.label for clip in clips], shares)
    split = [[clips[number] for number in part] for part in divided]
    return [whole or part for whole, part in zip([[], *apart], split, strict=True)]


def read_folder(folder: Path) -> dict[str, list[Clip]]:
    """The clips of each part: train/, val/ and test/, with a subfolder for each class.

    Without train/, the folder itself holds the classes.
    """
    splits = [find_split(folder, part) for part in PARTS]
    parts = dict(zip(PARTS, map(read_classes, splits), strict=True))
    if parts["train"]:
        note_outside(folder, splits)
    else:
        parts["train"] = read_classes(folder)
    return parts


def read_classes(folder: Path) -> list[Clip]:
    """The clips in the subfolders of a folder. The name of a subfolder is a class."""
    places = [place for place in class_folders(folder) if place.name not in PARTS]
    check_spelling({place.name: str(place) for place in places}, "class")
    if places:
        note_outside(folder, [*places, *(find_split(folder, part) for part in PARTS)])
    files = [path for place in places for path in place.rglob("*")]
    note_others(folder, [path for path in files if path.suffix.lower() not in SUFFIXES])
    return [read_clip(path, place.name) for place in places for path in find_sounds(place)]


def read_table(path: Path) -> dict[str, list[Clip]]:
    """The clips of each part of a .csv file with the columns file, label and optionally split."""
    parts = {part: [] for part in PARTS}
    names, rows = read_csv(path)
    if missing := {"file", "label"} - {*names}:
        raise SystemExit(
            f"{path}, the first line has no {min(missing)}. Columns, with commas between them: "
            "file,label[,split]."
        )
    placed, labels = [], {}
    for number, cells in enumerate(rows, start=1):
        place, row = f"{path}, row {number}", dict(zip(names, cells, strict=True))
        for column in ("file", "label"):
            if not row[column]:
                raise SystemExit(f"{place} has no {column}. Columns: file,label[,split].")
        part = row.get("split") or "train"
        if part not in PARTS:
            raise SystemExit(f"{place}: split is {', '.join(PARTS)}, not {part!r}.")
        parts[part].append(read_clip(path.parent / row["file"], row["label"], f"{place}: "))
        placed.append((place, parts[part][-1].path))
        labels.setdefault(row["label"], place)
    check_once(placed)
    check_spelling(labels, "class")
    note_ignored(str(path), names, ["file", "label", "split"])
    return parts


#: region facts when project.loop=complete
def describe_data(config) -> str:
    """What was understood of the files."""
    return f"classes in the training data: {count_names(c.label for c in load_clips(config)[0])}"
#: end facts


def read_clip(path: Path, label: str, place: str = "") -> Clip:
    """A clip of a file that was checked. `place` is put before an error message."""
    try:
        return Clip(path, label, measure_sound(path))
    except OSError as error:
        raise SystemExit(f"{place}{error}") from error


def class_names(config) -> list[str]:
    """The names of the classes. A label is an index into this list."""
    return sorted({clip.label for part in load_clips(config) for clip in part})

#: replace init when dataset=files
def __init__(self, sounds: list[Path], labels: list[int], config) -> None:
    self.sounds, self.labels, self.config = sounds, labels, config

#: replace sound when dataset=files
sound = read_sound(self.sounds[index], sample_rate(self.config))

#: slot prepare when model=cnn
def prepare(sound: Tensor, config) -> tuple[Tensor, int]:
    """The spectrogram of a sound, padded to `seconds`, (frames, mels), and its true length."""
    rate, size = config.sample_rate, round(config.seconds * config.sample_rate)
    frames = normalize(log_mel(sound[:size], rate, config.mels))
    most = len(log_mel(torch.zeros(size), rate, config.mels))
    return F.pad(frames, (0, 0, 0, most - len(frames))), len(frames)


def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return config.sample_rate

#: slot prepare when model=pretrained
def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return load_extractor(config.pretrained_name).sampling_rate


def prepare(sound: Tensor, config) -> tuple[Tensor, int]:
    """The model input of a sound, always of the same size, and its true length."""
    extractor = load_extractor(config.pretrained_name)
    rate = sample_rate(config)
    size = round(config.seconds * rate)
    # models of spectrograms, such as AST and Whisper, have a fixed length
    padding = {"padding": "max_length", "max_length": size} if extractor.feature_size == 1 else {}
    sound = sound[:size].numpy()
    batch = extractor(sound, sampling_rate=rate, return_tensors="pt", **padding)
    inputs = batch[extractor.model_input_names[0]][0]
    mask = batch.get("attention_mask")
    return inputs, len(inputs) if mask is None else int(mask.sum())
