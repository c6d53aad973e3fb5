"""The progress of a run, its training loss, its log, and the files of its metrics."""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from torch import Tensor
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassPrecision, MulticlassRecall
from tqdm import tqdm


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


class RunningLoss:
    """The mean training loss per sample, over all processes."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.sums = torch.zeros(2, device=accelerator.device)  # losses and samples since read()
        self.epoch_sum, self.epoch_samples = 0.0, 0.0  # over all processes, up to the last read()

    def add(self, loss: Tensor, samples: int) -> None:
        """Add the mean loss of `samples` samples. It does not wait for the device."""
        self.sums[0] += loss.detach() * samples
        self.sums[1] += samples

    def read(self) -> float:
        """The mean since the last call. Call it on all processes."""
        total, samples = self.accelerator.reduce(self.sums, "sum").tolist()
        self.sums.zero_()
        self.epoch_sum += total
        self.epoch_samples += samples
        return total / max(samples, 1)

    def end_epoch(self) -> float:
        """The mean of the epoch. Call it on all processes."""
        self.read()
        mean = self.epoch_sum / max(self.epoch_samples, 1)
        self.epoch_sum, self.epoch_samples = 0.0, 0.0
        return mean

    def state_dict(self) -> dict:
        """The sums of each process. Call it on all processes."""
        sums = self.accelerator.gather(self.sums.unsqueeze(0)).cpu()  # of each process
        return {"sum": self.epoch_sum, "samples": self.epoch_samples, "sums": sums}

    def load_state_dict(self, state: dict) -> None:
        self.epoch_sum, self.epoch_samples = state["sum"], state["samples"]
        self.sums.copy_(state["sums"][self.accelerator.process_index])


class HardBatches:
    """The share of training batches whose loss is above a limit: a pattern for your own metrics.

    Each process counts its hard batches and all its batches, on the device. The processes add up
    their counts only when a value is read.
    """

    def __init__(self, accelerator: Accelerator, limit: float) -> None:
        self.accelerator, self.limit = accelerator, limit
        self.step = torch.zeros(2, dtype=torch.long, device=accelerator.device)
        self.epoch = torch.zeros_like(self.step)

    def add(self, loss: torch.Tensor) -> None:
        """Count a batch by its mean loss. Nothing waits for the device."""
        hard = loss.detach() > self.limit
        self.step = torch.stack([hard, torch.ones_like(hard)]).long()
        self.epoch += self.step

    def share(self, counts: torch.Tensor) -> float:
        """The share over all processes. Call it on all processes."""
        hard, batches = self.accelerator.reduce(counts, "sum").tolist()
        return hard / max(batches, 1)

    def read_step(self) -> float:
        """The share in the last batch of each process. Call it on all processes."""
        return self.share(self.step)

    def end_epoch(self) -> float:
        """The share in the epoch. Call it on all processes."""
        share = self.share(self.epoch)
        self.epoch.zero_()
        return share

    def state_dict(self) -> dict:
        """The counts of each process in this epoch. Call it on all processes."""
        return {"epoch": self.accelerator.gather(self.epoch).reshape(-1, 2).tolist()}

    def load_state_dict(self, state: dict) -> None:
        self.epoch = torch.tensor(
            state["epoch"][self.accelerator.process_index], device=self.accelerator.device
        )


class EpochOutputs:
    """Keeps the outputs of an evaluation until its end, on the CPU.

    Each added batch has the samples of all processes without padding; each process keeps its
    share.
    """

    def __init__(self) -> None:
        self.batches: list[list[torch.Tensor]] = []

    def clear(self) -> None:
        self.batches.clear()

    def add(self, accelerator: Accelerator, *outputs: torch.Tensor) -> None:
        """Keep a batch: tensors with one entry for each sample."""
        share = slice(accelerator.process_index, None, accelerator.num_processes)
        self.batches.append([output[share].cpu() for output in outputs])

    def gather(self) -> list[torch.Tensor]:
        """The outputs of all samples. Call it on all processes."""
        own = [torch.cat(output) for output in zip(*self.batches, strict=True)]
        return [torch.cat(output) for output in zip(*gather_object([own]), strict=True)]


def count_errors(predictions: torch.Tensor, labels: torch.Tensor) -> list[int]:
    """The number of misclassified samples of each class."""
    classes = int(torch.cat([predictions, labels]).max()) + 1
    return torch.bincount(labels[predictions != labels], minlength=classes).tolist()


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


class ClassMetrics:
    """Accuracy, macro precision and macro recall of an evaluation, by torchmetrics.

    add() gets batches that are gathered from all processes and have no padding. Each process
    counts all samples, so torchmetrics must not sum over processes (sync_on_compute=False).
    """

    def __init__(self) -> None:
        self.metrics: MetricCollection | None = None  # the first batch creates it

    def add(
        self, predictions: torch.Tensor, labels: torch.Tensor, classes: int
    ) -> dict[str, torch.Tensor]:
        """Count a batch of classes, shape (batch,). Returns the values of this batch only.

        It does not wait for the device.
        """
        if self.metrics is None:
            settings = {"num_classes": classes, "validate_args": False, "sync_on_compute": False}
            metrics = {
                "accuracy": MulticlassAccuracy(average="micro", **settings),
                "precision": MulticlassPrecision(average="macro", **settings),
                "recall": MulticlassRecall(average="macro", **settings),
            }
            self.metrics = MetricCollection(metrics).to(labels.device)
        return self.metrics(predictions, labels)

    def compute(self, name: str) -> dict[str, float]:
        """The values over all batches so far, named after the set: `val_precision`."""
        return {f"{name}_{key}": value.item() for key, value in self.metrics.compute().items()}


def is_step(line: dict) -> bool:
    """Whether a line of metrics.jsonl is the log line of a step, not that of an epoch."""
    return "lr" in line and not any(name.startswith(("train_", "val_", "test_")) for name in line)


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
