"""Run as a program: trains a project from the weights and on the batches of a record.

python replay.py PROJECT RECORD FILE: the file gets the losses and the weights.
"""

import ast
import copy
import dataclasses
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

SEED = 1000


class End(Exception):
    """No batch is left."""


class Replay:
    """A loader of recorded batches, which epochs go on with."""

    def __init__(self, batches: list[Any], length: int, places: dict[int, int] | None) -> None:
        self.batches, self.length, self.places, self.next = batches, length, places, 0
        self.dataset, self.collate_fn = batches, None
        self.kept: list[Any] = []

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self.length):
            if self.next == len(self.batches):
                raise End
            batch = copy.deepcopy(self.batches[self.next])
            if self.places is not None:
                self.places[id(batch)] = self.next
                self.kept.append(batch)  # so that no other one gets its id
            self.next += 1
            yield batch

    def set_epoch(self, epoch: int) -> None:
        pass


class Same(Replay):
    """The same batches in each evaluation."""

    def __iter__(self) -> Iterator[Any]:
        start = self.next % max(len(self.batches), 1)
        self.next = start + self.length
        yield from copy.deepcopy(self.batches[start : start + self.length])


def count_loaders(folder: Path) -> list[str]:
    """The loaders that main takes from build_loaders."""
    for node in ast.walk(ast.parse((folder / "train.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and "build_loaders(" in ast.unparse(node.value):
            target = node.targets[0]
            return [ast.unparse(part) for part in getattr(target, "elts", [target])]
    return []


def main(project: str, recorded: str, path: str) -> None:
    os.environ["ACCELERATE_USE_CPU"] = "true"
    sys.path.insert(0, project)
    sys.argv = ["train.py"]
    import train  # type: ignore[import-not-found]
    from accelerate import Accelerator

    record = torch.load(recorded, weights_only=False)
    build, size = train.build_model, train.find_batch_size
    models, losses, places = list[Any](), list[float](), dict[int, int]()

    def build_model(config: Any) -> Any:
        models.append(build(config))
        models[-1].load_state_dict(record["before"])
        return models[-1]

    def find_batch_size(batch: Any) -> Any:
        if id(batch) in places:
            torch.manual_seed(SEED + places[id(batch)])
        return size(batch)

    def build_loaders(*_: Any) -> list[Any]:
        seen = record["evaluated"]
        loaders = [Replay(record["batches"], record["length"], places)]
        return loaders + [
            Same(seen, min(2, len(seen)), None) for _ in count_loaders(Path(project))[1:]
        ]

    backward = Accelerator.backward

    def note(self: Any, loss: Any, **given: Any) -> None:
        whole = 1 if self.gradient_accumulation_steps > 1 else steps
        losses.append(float(loss) * whole)
        backward(self, loss, **given)

    train.build_model, train.find_batch_size = build_model, find_batch_size
    train.build_loaders, Accelerator.backward = build_loaders, note
    if hasattr(train, "BestModel"):  # what is compared is the last model
        train.BestModel.load = lambda *_: None
    if hasattr(train, "evaluate_test"):
        train.evaluate_test = lambda *_: {}
    config = train.Config()
    names = {field.name for field in dataclasses.fields(config)}
    steps = getattr(config, "gradient_accumulation_steps", 1)
    with tempfile.TemporaryDirectory() as folder:
        changes = {
            "output_dir": Path(folder),
            "max_steps": min(record["max_steps"], record["updates"]),
            "log_every": 0,
            "checkpoint_every": 0,
            "mixed_precision": "no",
            "patience": 10**9,
        }
        changes = {name: value for name, value in changes.items() if name in names}
        with suppress(End):
            train.main(dataclasses.replace(config, **changes))
    torch.save({"losses": losses, "after": models[-1].state_dict()}, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
