"""The progress of a run, its training loss, its log, and the files of its metrics."""

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator, PartialState
from torch import Tensor
from tqdm import tqdm

from boxes import area, intersect, iou
from data import Objects


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


IOUS = torch.from_numpy(np.linspace(0.5, 0.95, 10))  # thresholds from which a box counts as right
RECALLS = torch.from_numpy(np.linspace(0, 1, 101))  # at which precision is measured


def judge(found: Tensor, targets: list[Objects]) -> Tensor:
    """The score and class of each detection, and whether it is right, shape (batch, 100, 12).

    The last ten values are for the IoUs: 1 is right, 0 is wrong, and -1 is ignored. `found` is
    what find_objects() returns.
    """
    rows = [judge_image(*pair) for pair in zip(found.cpu(), targets, strict=True)]
    return torch.stack(rows).to(found.device)


def judge_image(found: Tensor, objects: Objects) -> Tensor:
    """The rows of judge() for an image, shape (100, 12).

    Detections are sorted by score, highest first. Each finds the object of its class that it
    overlaps most, among those not found yet. If only a crowd fits, the detection is ignored.
    """
    true, labels, crowd = (objects[name].cpu() for name in ("boxes", "labels", "crowd"))
    boxes, true = found[:, None, :4].double(), true.double()
    shares = iou(boxes, true)
    covered = area(intersect(boxes, true)) / area(boxes).clamp(min=1e-9)
    shares = torch.where(crowd, covered, shares)  # any number of boxes may find a crowd
    left = found[:, None, 4] > 0  # what find_objects() took out finds nothing
    shares = shares.where(left & (found[:, None, 5] == labels), -1)
    outcome = torch.zeros(len(found), len(IOUS)).masked_fill(found[:, None, 4] == 0, -1)
    free = (~crowd).repeat(len(IOUS), 1)
    for row in (shares >= IOUS[0]).any(dim=1).nonzero().flatten().tolist():
        fits = shares[row] >= IOUS[:, None]  # [IoU, object]
        best, place = shares[row].where(fits & free, -1).flip(1).max(dim=1)  # the last one in a tie
        right = best >= 0
        free[right, len(labels) - 1 - place[right]] = False
        outcome[row, (fits & crowd).any(dim=1)] = -1
        outcome[row, right] = 1
    return torch.cat([found[:, 4:], outcome], dim=1)


def count_objects(targets: list[Objects], classes: int) -> Tensor:
    """The objects of each class in each image, shape (batch, classes), without crowds."""
    rows = [objects["labels"][~objects["crowd"]] for objects in targets]
    return torch.stack([row.bincount(minlength=classes) for row in rows])


def detection_scores(judged: Tensor, objects: Tensor) -> dict[str, float]:
    """Mean average precision of all images, from what judge() and count_objects() return.

    The precision at 101 recalls, averaged over the classes and over all IoUs (map), or at the IoU
    0.5 (map_50) or 0.75 (map_75). Classes without objects are left out; without any object, it is
    -1. These are the metrics of COCO: https://cocodataset.org/#detection-eval
    """
    judged, counts = judged.cpu().flatten(0, 1).double(), objects.cpu().sum(dim=0)
    precisions = []
    for label in counts.nonzero().flatten().tolist():
        rows = judged[judged[:, 1] == label]
        outcome = rows[rows[:, 0].argsort(descending=True, stable=True), 2:].T.contiguous()
        right, wrong = ((outcome == value).double().cumsum(dim=1) for value in (1, 0))
        precision = F.pad(right / (right + wrong).clamp(min=1), (0, 1))  # 0 where nothing is found
        precision = precision.flip(1).cummax(dim=1).values.flip(1)  # the best from here on
        reached = torch.searchsorted(right / counts[label], RECALLS.repeat(len(IOUS), 1))
        precisions.append(precision.gather(1, reached).mean(dim=1))
    if not precisions:
        return dict.fromkeys(("map", "map_50", "map_75"), -1.0)
    by_iou = torch.stack(precisions).mean(dim=0)
    return {"map": float(by_iou.mean()), "map_50": float(by_iou[0]), "map_75": float(by_iou[5])}


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
