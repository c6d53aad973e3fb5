"""Run as a program: trains a project from the weights and on the batches of a record.

python replay.py PROJECT RECORD LOADERS: prints as JSON how far its losses and weights are off.
"""

import copy
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import torch

SEED = 1000


class End(Exception):
    """No batch is left."""


class Replay:
    """A loader of recorded batches, which epochs go on with."""

    dataset = collate_fn = None

    def __init__(self, batches: Iterable[Any], length: int) -> None:
        self.batches, self.length = iter(batches), length

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self.length):
            if (batch := next(self.batches, None)) is None:
                raise End
            yield copy.deepcopy(batch)

    def set_epoch(self, epoch: int) -> None:
        pass


def train_again(
    project: str, record: dict[str, Any], loaders: int
) -> tuple[list[float], dict[str, Any]]:
    """The losses of all batches, and the weights at the end. It has so many loaders."""
    sys.path.insert(0, project)
    sys.argv = ["train.py"]
    import train  # type: ignore[import-not-found]

    build, size, backward = train.build_model, train.find_batch_size, torch.Tensor.backward
    models, losses, config = list[Any](), list[float](), train.Config()

    def build_model(config: Any) -> Any:
        models.append(build(config))
        models[-1].load_state_dict(record["before"])
        return models[-1]

    def find_batch_size(batch: Any) -> Any:
        torch.manual_seed(SEED + len(losses))  # its dropout, as in the record
        return size(batch)

    def note(loss: Any, *arguments: Any, **given: Any) -> None:
        losses.append(float(loss))
        backward(loss, *arguments, **given)

    batches, length = record["batches"], record["length"]
    train.build_loaders = lambda *_: [
        Replay(batches, length),
        *(Replay(cycle(batches[:2]), 2) for _ in range(1, loaders)),  # for an evaluation
    ]
    train.build_model, train.find_batch_size = build_model, find_batch_size
    torch.Tensor.backward = note
    if hasattr(train, "BestModel"):  # what is compared is the last model
        train.BestModel.load = lambda *_: None
    with tempfile.TemporaryDirectory() as folder:
        changes = {"output_dir": Path(folder), "max_steps": record["max_steps"], "log_every": 0}
        changes |= {"checkpoint_every": 0, "mixed_precision": "no", "patience": 10**9}
        names = {field.name for field in dataclasses.fields(config)}
        changes = {name: value for name, value in changes.items() if name in names}
        with suppress(End):
            train.main(dataclasses.replace(config, **changes))
    return losses, models[-1].state_dict()


def apart(one: dict[str, Any], two: dict[str, Any]) -> dict[str, float]:
    """The largest difference of each weight that both have."""
    return {
        name: float((value.double() - two[name].double()).abs().max())
        for name, value in one.items()
        if isinstance(value, torch.Tensor) and value.numel() and name in two
    }


def main(project: str, recorded: str, loaders: str) -> None:
    os.environ["ACCELERATE_USE_CPU"] = "true"
    record = torch.load(recorded, weights_only=False)
    losses, after = train_again(project, record, int(loaders))
    differences = [abs(a - b) for a, b in zip(record["losses"], losses, strict=False)]
    weights = apart(record["after"], after)
    found = {
        "updates": record["updates"],
        "batches": [len(record["losses"]), len(losses)],
        "loss": max(differences, default=0.0),
        "first": next((n for n, value in enumerate(differences, start=1) if value > 1e-6), 0),
        "weights": max(weights.values(), default=0.0),
        "weight": max(weights, key=lambda name: weights[name], default=""),
        "moved": max(apart(record["after"], record["before"]).values(), default=0.0),
        "missing": sorted(set(record["after"]) ^ set(after)),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
