#: file with one_optimizer
"""How certain metrics are, whether two runs differ, and the metrics of groups of samples."""

from collections import defaultdict
from collections.abc import Callable

import torch
from torch import Tensor

RESAMPLES = 1000  # each drawn with replacement
Columns = dict[str, Tensor]  # values of each sample, in the order of the set
Metrics = dict[str, float]


def resample(samples: int, measure: Callable[[Tensor], Metrics]) -> Columns:
    """The result of `measure` for each resample. The resamples are the same each time."""
    draw = torch.Generator().manual_seed(0)
    found = [measure(torch.randint(samples, (samples,), generator=draw)) for _ in range(RESAMPLES)]
    return {name: torch.tensor([one[name] for one in found]).double() for name in found[0]}


def percentiles(values: Tensor) -> Metrics:
    """The middle 95% of the values."""
    low, high = values.quantile(torch.tensor([0.025, 0.975]).double()).tolist()
    return {"low": low, "high": high}


def take(columns: Columns, rows: Tensor) -> Columns:
    return {name: values[rows] for name, values in columns.items()}


def find_intervals(columns: Columns, summarize: Callable[[Columns], Metrics]) -> dict[str, Metrics]:
    """A 95% confidence interval for each metric: the percentile bootstrap.

    Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
    """
    samples = len(columns["loss"])
    drawn = resample(samples, lambda rows: summarize(take(columns, rows)))
    #: slot drawn
    return {name: percentiles(values) for name, values in drawn.items()}


def is_same_data(columns: Columns, other: Columns) -> bool:
    """Whether both have the same samples, judged by their columns."""
    data = [name for name in ("label", "target", "tokens") if name in columns]
    same_size = len(columns["loss"]) == len(other["loss"])
    return same_size and all(torch.equal(columns[name], other[name]) for name in data)


def compare(
    columns: Columns, other: Columns, summarize: Callable[[Columns], Metrics]
) -> dict[str, Metrics]:
    """How much higher each metric is than that of another run: the paired bootstrap.

    Both are measured on the same sets. p is two-sided: twice the share of sets whose difference has
    the other sign. Koehn 2004, https://aclanthology.org/W04-3250
    """
    samples = len(columns["loss"])

    def subtract(rows: Tensor) -> Metrics:
        one, two = summarize(take(columns, rows)), summarize(take(other, rows))
        return {name: one[name] - two[name] for name in one}

    result, drawn = {}, resample(samples, subtract)
    for name, difference in subtract(torch.arange(samples)).items():
        values = drawn[name]
        fewer = min(int((values <= 0).sum()), int((values >= 0).sum()))
        p = min(1.0, 2 * (fewer + 1) / (RESAMPLES + 1))
        result[f"{name}_difference"] = {"value": difference, **percentiles(values), "p": p}
    return result


def measure_groups(
    columns: Columns, table: dict[str, list], by: str, summarize: Callable[[Columns], Metrics]
) -> dict[str, Metrics]:
    """How many samples have each value of a column of the table, and their metrics."""
    if by not in table:
        raise SystemExit(f"--by {by}: there is no such column. Choose from {', '.join(table)}.")
    groups = defaultdict(list)
    for row, value in enumerate(table[by]):
        groups[value].append(row)
    return {
        f"{by} {value}": {"samples": len(rows), **summarize(take(columns, torch.tensor(rows)))}
        for value, rows in sorted(groups.items())
    }


#: slot functions
#: end file

from math import comb

#: slot functions with labels
def mcnemar(right: Tensor, other_right: Tensor) -> Metrics:
    """Whether two runs are right equally often: McNemar 1947, https://doi.org/10.1007/BF02295996

    Only samples that exactly one run gets right count. If both runs are equally good, each run is
    equally likely to be the right one. p is two-sided and exact.
    """
    alone, other_alone = int((right & ~other_right).sum()), int((other_right & ~right).sum())
    both = alone + other_alone
    tail = sum(comb(both, count) for count in range(min(alone, other_alone) + 1))
    p = min(1.0, 2 * tail / 2**both)
    return {"right_alone": alone, "other_right_alone": other_alone, "p": p}

#: slot functions with class_counts without labels
OUTCOMES = ("right", "missed", "wrong")


def measure_classes(counts: Tensor, names: list[str]) -> dict[str, Metrics]:
    """Metrics of each class, from counts of right, missed and wrong ones, (classes, 3)."""
    found = {}
    for name, row in zip(names, counts.tolist(), strict=True):
        right, missed, wrong = row
        found[f"class {name}"] = {
            **dict(zip(OUTCOMES, row, strict=True)),
            "precision": right / max(right + wrong, 1),
            "recall": right / max(right + missed, 1),
            "f1": 2 * right / max(2 * right + missed + wrong, 1),
        }
    return found
