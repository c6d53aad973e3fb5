"""The data: log-mel spectrograms, shape (batch, frames, mels),
their true lengths, shape (batch,), and labels, (batch,).

A length counts frames without the padding at the end.
"""

from math import pi
from random import Random

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, random_split

from audio import log_mel, normalize


class Sounds(Dataset):
    """The model input of each sound, its length, and its label."""

    def __init__(self, sounds: list[Tensor], labels: list[int], config) -> None:
        self.sounds, self.labels, self.config = sounds, labels, config

    def __len__(self) -> int:
        return len(self.sounds)

    def __getitem__(self, index: int) -> tuple[Tensor, int, int]:
        sound = self.sounds[index]
        return *prepare(sound, self.config), self.labels[index]


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


def prepare(sound: Tensor, config) -> tuple[Tensor, int]:
    """The spectrogram of a sound, padded to `seconds`, (frames, mels), and its true length."""
    rate, size = config.sample_rate, round(config.seconds * config.sample_rate)
    frames = normalize(log_mel(sound[:size], rate, config.mels))
    most = len(log_mel(torch.zeros(size), rate, config.mels))
    return F.pad(frames, (0, 0, 0, most - len(frames))), len(frames)


def sample_rate(config) -> int:
    """The sampling rate that prepare() expects, in Hz."""
    return config.sample_rate


def build_loaders(config) -> tuple[DataLoader, DataLoader, DataLoader]:
    """The training, validation and test loaders, before accelerator.prepare()."""
    train_set, val_set, test_set = build_datasets(config)
    train_loader = DataLoader(
        train_set,
        config.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=config.num_workers,
        generator=torch.Generator().manual_seed(config.seed),  # leaves dropout's RNG alone
    )
    settings = {
        "batch_size": 4 * config.batch_size,  # evaluation keeps no activations
        "num_workers": config.num_workers,
        "generator": torch.Generator(),  # else evaluating advances the RNG of dropout
    }
    val_loader, test_loader = DataLoader(val_set, **settings), DataLoader(test_set, **settings)
    return train_loader, val_loader, test_loader
