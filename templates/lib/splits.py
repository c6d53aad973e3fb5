#: into data.py at datasets
"""Splits of samples in which each class keeps its share."""

from collections import Counter
from collections.abc import Sequence
from random import Random

import torch
from accelerate import PartialState
from torch.utils.data import Subset, random_split


def find_shares(apart: Sequence, config) -> list[float]:
    """The shares of validation and test data to split off: 0 for what the user has `apart`."""
    shares = (config.val_share, config.test_share)
    return [0.0 if part else share for part, share in zip(apart, shares, strict=True)]


def complete_parts(samples, apart: Sequence, few: str) -> list:
    """Training, validation and test data. What is not `apart` is a tenth of the samples.

    The parts are the same in each run. Raises SystemExit with the message `few` if there are fewer
    than 10 samples to be split.
    """
    shares = [0.0 if part else 0.1 for part in apart]
    if len(samples) < 10 and any(shares):
        raise SystemExit(few)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = random_split(samples, [1 - sum(shares), *shares], generator=rng)
    return [own or part for own, part in zip([None, *apart], parts, strict=True)]


def complete_groups(samples, groups: Sequence, apart: Sequence, few: str) -> list:
    """Training, validation and test data. What is not `apart` is a tenth of the groups.

    Samples of one group are in one part, the same in each run. Raises SystemExit with the message
    `few` if there are fewer than 10 groups to be split.
    """
    shares = [0.0 if part else 0.1 for part in apart]
    if len(set(groups)) < 10 and any(shares):
        raise SystemExit(few)
    parts = split_groups(groups, [1 - sum(shares), *shares])
    return [own or Subset(samples, rows) for own, rows in zip([None, *apart], parts, strict=True)]


def split_groups(groups: Sequence, shares: Sequence[float]) -> list[list[int]]:
    """The rows in parts with these shares of the groups, the same in each run."""
    rows: dict = {}
    for row, group in enumerate(groups):
        rows.setdefault(group, []).append(row)
    # a fixed seed: another --seed must not move test samples into the training data
    rng = torch.Generator().manual_seed(0)
    parts = random_split(list(rows.values()), shares, generator=rng)
    return [[row for group in part for row in group] for part in parts]


def split_by_class(labels: Sequence, shares: Sequence[float]) -> list[list[int]]:
    """The samples of training, validation and test data, the same in each run.

    `shares` are those of validation and test data, of each class. A class with fewer than three
    samples stays in the training data.
    """
    counts = Counter(labels)
    rare = [f"{name!r} ({count})" for name, count in counts.items() if count < 3]
    if rare and any(shares):
        text = ", ".join(rare[:10]) + f" and {len(rare) - 10} more" * (len(rare) > 10)
        PartialState().print(f"Too few samples to be split, all are training data: {text}")
    # a fixed seed: another --seed must not move test samples into the training data
    order = Random(0).sample(range(len(labels)), len(labels))
    rest = sorted(
        (row for row in order if counts[labels[row]] > 2), key=lambda row: str(labels[row])
    )
    parts, total = [], len(rest)
    for share in shares:
        count = round(share * total)
        # at equal distances in samples that are sorted by class
        taken = {rest[place * len(rest) // count] for place in range(count)}
        parts.append([row for row in order if row in taken])
        rest = [row for row in rest if row not in taken]
    held_out = {row for part in parts for row in part}
    return [[row for row in order if row not in held_out], *parts]
