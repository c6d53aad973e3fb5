"""The data: batches of sources, inputs and targets, tokens of shape (batch, length).

The inputs of the decoder are the targets shifted by one: a start token and all tokens but the last.
Shorter sources and inputs are padded, and shorter targets with IGNORED.
"""

import random
from datetime import date, timedelta

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, random_split

from metrics import IGNORED
from model import END, PADDING, START


def load_pairs(config) -> list[list[tuple[str, str]]]:
    """10,000 different dates, as people write them and as 1998-03-14, in three splits."""
    rng = random.Random(0)
    days = rng.sample(range(200 * 365), 10_000)
    dates = [date(1900, 1, 1) + timedelta(days=day) for day in days]
    pairs = [(write(day, rng), day.isoformat()) for day in dates]
    # a fixed seed: another --seed must not move test samples into the training data
    split = torch.Generator().manual_seed(0)
    return [list(part) for part in random_split(pairs, [0.8, 0.1, 0.1], generator=split)]


def write(day: date, rng: random.Random) -> str:
    """The date in one of seven forms: 3/14/1998 is American, 14.3.1998 European."""
    number = day.day
    ending = "th" if 10 < number < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return rng.choice(
        [
            f"{number} {day:%B %Y}",
            f"{number}{ending} of {day:%B, %Y}",
            f"{day:%B} {number}, {day:%Y}",
            f"{day:%A}, {day:%B} {number}{ending}, {day:%Y}",
            f"{number}-{day:%b-%Y}",
            f"{number}.{day.month}.{day:%Y}",
            f"{day.month}/{number}/{day:%Y}",
        ]
    )


class Pairs(Dataset):
    """Sources and targets as tokens, each with an end token."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = [[encode(text) for text in pair] for pair in pairs]

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> list[Tensor]:
        return self.pairs[index]


def encode(text: str) -> Tensor:
    """The bytes of a text, and END."""
    return torch.tensor([*text.encode(), END])


def collate(pairs: list[list[Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """A batch of sources, inputs and targets, each padded to the longest."""
    sources, targets = zip(*pairs, strict=True)
    start = torch.tensor([START])
    inputs = [torch.cat([start, target[:-1]]) for target in targets]
    return (
        pad_sequence(sources, batch_first=True, padding_value=PADDING),
        pad_sequence(inputs, batch_first=True, padding_value=PADDING),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )


def build_datasets(config) -> list[Dataset]:
    """Pairs for training, validation and test."""
    return [Pairs(pairs) for pairs in load_pairs(config)]


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
