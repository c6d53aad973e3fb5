"""The data: log-mel spectrograms, shape (batch, frames, mels),
their true lengths, shape (batch,), their texts as letter ids, (batch, letters), and the
sizes of the texts, (batch,).

A length counts frames without the padding at the end, a size counts letters.
"""

from collections.abc import Sequence
from functools import cache
from math import pi
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, random_split

from audio import log_mel, normalize


class Row(NamedTuple):
    """A sound and its text."""

    sound: int  # a seed, from which the sound is generated
    text: str


LETTERS = "abcdefghijklmnop"


@cache
def load_rows(config) -> list[list[Row]]:
    """1,500 texts of one to three words, each with the seed of its sound, in three splits."""
    rng = Random(0)
    rows = []
    for seed in range(1500):
        sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
        words = ["".join(rng.choices(LETTERS, k=size)) for size in sizes]
        rows.append(Row(seed, " ".join(words)))
    return split_rows(rows, [0.8, 0.1, 0.1])


def load_sound(row: Row, rate: int) -> Tensor:
    """A tone for each letter, and silence between words, on background noise: shape (samples,).

    A letter is three semitones above the one before it. Its length, loudness and pitch vary.
    """
    rng, parts = Random(row.sound), []
    for letter in row.text:
        time = torch.arange(int(rng.uniform(0.06, 0.12) * rate)) / rate
        if letter != " ":
            pitch = 350 * 2 ** (LETTERS.index(letter) / 4 + rng.uniform(-0.03, 0.03))
            swell = (pi * time / time[-1]).sin()  # an abrupt start would be a click
            parts.append(rng.uniform(0.2, 0.8) * swell * (2 * pi * pitch * time).sin())
        parts.append(torch.zeros_like(time) if letter == " " else time[: len(time) // 4] * 0)
    sound = torch.cat(parts)
    noise = torch.randn(len(sound), generator=torch.Generator().manual_seed(row.sound))
    return sound + rng.uniform(0.01, 0.1) * noise


def split_rows(rows: list, shares: list[float], source: str = "the data") -> list[list]:
    """The rows in splits of these sizes, the same in each run. `source` is for error messages."""
    if shares[0] == 1:  # the other splits have their own files
        return [rows, [], []]
    if len(rows) < 10:
        raise SystemExit(
            f"{source}: {len(rows)} sounds can't be split into training, validation and test: use "
            "10 or more."
        )
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(rows, shares, generator=rng)]


@cache
def list_letters(config) -> list[str]:
    """The letters of all texts, after the blank and the space. The id of a letter is its index."""
    used = {letter for part in load_rows(config) for row in part for letter in row.text}
    return ["", " ", *sorted(used - {" "})]


def prepare(sound: Tensor, config) -> Tensor:
    """The spectrogram of a sound, shape (frames, mels)."""
    return normalize(log_mel(sound, config.sample_rate, config.mels))


def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return config.sample_rate


def count_frames(samples: int, config) -> int:
    """The number of frames that the model outputs for this many samples: one per 20 ms."""
    return (samples // round(0.01 * config.sample_rate) + 2) // 2


class Sounds(Dataset):
    """The model input of each sound, and its text as letter ids."""

    def __init__(self, rows: list[Row], config) -> None:
        self.rows, self.config = rows, config
        self.numbers = {letter: number for number, letter in enumerate(list_letters(config))}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        row = self.rows[index]
        sound = load_sound(row, sample_rate(self.config))
        text = torch.tensor([self.numbers[letter] for letter in row.text], dtype=torch.long)
        return prepare(sound, self.config), text


def build_datasets(config) -> list[Dataset]:
    """Training, validation and test data."""
    parts = load_rows(config)
    return [Sounds(part, config) for part in parts]


def pad(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Rows padded to the longest, and their true lengths."""
    lengths = torch.tensor([len(row) for row in rows])
    return pad_sequence(list(rows), batch_first=True), lengths


def collate(samples: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch of sounds and texts, each padded to the longest."""
    sounds, texts = zip(*samples, strict=True)
    return *pad(sounds), *pad(texts)


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        collate_fn=collate,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader = DataLoader(val_set, collate_fn=collate, **settings)
    test_loader = DataLoader(test_set, collate_fn=collate, **settings)
    return train_loader, val_loader, test_loader
