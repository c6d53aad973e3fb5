"""The progress of a run, its training loss, its log, and the files of its metrics."""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from torch import Tensor
from tqdm import tqdm

IGNORED = -100  # a target that does not count: F.cross_entropy ignores it by default


@dataclass
class Progress:
    batches_per_epoch: int = 0  # on each process
    samples: tuple[int, ...] = ()  # in the training, validation and test data
    epoch: int = 0  # finished epochs
    batch: int = 0  # finished batches of the current epoch, on each process
    step: int = 0  # optimizer steps

    def state_dict(self) -> dict:
        return asdict(self)

    def load_state_dict(self, state: dict) -> None:
        old, new = state["batches_per_epoch"], self.batches_per_epoch
        if new != old:
            raise SystemExit(f"An epoch had {old} batches, and now has {new}: start a new run.")
        old, new = state.get("samples", self.samples), self.samples
        if new != old:  # the parts are drawn from all samples: test samples would be trained
            raise SystemExit(f"The data had {old} samples, and now have {new}: start a new run.")
        self.epoch, self.batch, self.step = state["epoch"], state["batch"], state["step"]


def count_steps(loader, config) -> tuple[int, int]:
    """Batches per epoch on each process, and steps of the run. Call it after prepare()."""
    batches = min(len(loader), config.limit_batches or len(loader))
    if not batches:
        raise SystemExit("Each process needs one full batch: use a smaller --batch-size.")
    steps = config.epochs * batches
    return batches, min(steps, config.max_steps or steps)


def count_tokens(targets: Tensor) -> Tensor:
    """The number of targets of each sample that count, shape (batch,)."""
    return (targets != IGNORED).sum(dim=1)


class RunningLoss:
    """The mean training loss per token, over all processes."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.sums = torch.zeros(2, device=accelerator.device)  # losses and tokens since read()
        self.epoch_sum, self.epoch_tokens = 0.0, 0.0  # over all processes, up to the last read()

    def add(self, losses: Tensor, targets: Tensor) -> None:
        """Add the losses of a batch, shape (batch, length). It does not wait for the device."""
        self.sums += torch.stack([losses.detach().sum(), count_tokens(targets).sum()])

    def read(self) -> float:
        """The mean since the last call. Call it on all processes."""
        total, tokens = self.accelerator.reduce(self.sums, "sum").tolist()
        self.sums.zero_()
        self.epoch_sum += total
        self.epoch_tokens += tokens
        return total / max(tokens, 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. Call it on all processes."""
        self.read()
        mean = self.epoch_sum / max(self.epoch_tokens, 1)
        self.epoch_sum, self.epoch_tokens = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """The sums of each process. Call it on all processes."""
        sums = self.accelerator.gather(self.sums.unsqueeze(0)).cpu()  # of each process
        return {"sum": self.epoch_sum, "tokens": self.epoch_tokens, "sums": sums}

    def load_state_dict(self, state: dict) -> None:
        self.epoch_sum, self.epoch_tokens = state["sum"], state["tokens"]
        self.sums.copy_(state["sums"][self.accelerator.process_index])


def find_entities(tags: list[int]) -> set[tuple[int, int, int]]:
    """The entities of a sentence: type, first word, and the word after the last.

    Tag 0 is outside, tag 2 * type + 1 begins an entity, and the next one continues it. A tag
    that continues no entity of its type is not an entity, as in seqeval's strict IOB2. The script
    of CoNLL-2003 is less strict: there, such a tag begins an entity.
    """
    found, first = set(), None
    for place, tag in enumerate([*tags, 0]):
        if first is not None and tag != tags[first] + 1:
            found.add((tags[first] // 2, first, place))
            first = None
        if tag % 2 == 1:
            first = place
    return found


def count_entities(predictions: Tensor, targets: Tensor) -> Tensor:
    """For each sentence, the entities that are right, predicted, and in the data: (batch, 3).

    An entity is right if its type and all of its words are. `predictions` and `targets` are tags of
    shape (batch, length); where a target is IGNORED, there is no word.
    """
    counts = []
    for predicted, actual in zip(predictions.cpu(), targets.cpu(), strict=True):
        words = actual != IGNORED
        found, known = (find_entities(tags[words].tolist()) for tags in (predicted, actual))
        counts.append([len(found & known), len(found), len(known)])
    return torch.tensor(counts, device=targets.device)


def entity_scores(counts: Tensor) -> dict[str, float]:
    """Precision, recall and F1 of the counts of a whole set, shape (3,). Without any, 0."""
    right, predicted, actual = counts.tolist()
    return {
        "precision": right / max(predicted, 1),
        "recall": right / max(actual, 1),
        "f1": 2 * right / max(predicted + actual, 1),
    }


class MetricsFile:
    """Writes a line of JSON for each logged step and each evaluation. NaN and infinity are null."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0  # the first line replaces the file of an earlier run

    def append(self, step: int, metrics: dict[str, float]) -> None:
        if PartialState().is_main_process:
            with self.path.open("a" if self.size else "w") as file:
                values = {name: v if isfinite(v) else None for name, v in metrics.items()}
                file.write(json.dumps({"step": step, **values}) + "\n")
                self.size = file.tell()

    def state_dict(self) -> dict:
        return {"text": self.path.read_text()[: self.size] if self.size else ""}

    def load_state_dict(self, state: dict) -> None:
        if PartialState().is_main_process:
            self.size = self.path.write_text(state["text"])


def format_metrics(metrics: dict[str, float]) -> str:
    return " | ".join(f"{name} {value:.5g}" for name, value in metrics.items())


def progress_bar(batches: Iterable, done: int, total: int) -> tqdm:
    """The batches with a progress bar, in the terminal of the main process."""
    disable = None if PartialState().is_main_process else True  # None: off if there is no terminal
    return tqdm(batches, initial=done, total=total, leave=False, disable=disable)


def log(text: str) -> None:
    """Print a line on the main process, above the progress bar."""
    if PartialState().is_main_process:
        tqdm.write(text)
        sys.stdout.flush()
