"""Small objects that the loop calls by name: no base class, no event system."""

import json
import math
from pathlib import Path

from checkpoint import Progress, writing


class BestModel:
    """Remembers the best score so far, of which more is better, and where its weights are."""

    def __init__(self, path: Path) -> None:
        self.path, self.best = path, float("-inf")

    def improved(self, score: float) -> bool:
        """Whether this score is the best so far."""
        if not score > self.best:  # nor is NaN an improvement
            return False
        self.best = score
        return True

    @property
    def found(self) -> bool:
        """Whether there is one: a run may stop before its first evaluation, or see only NaN."""
        return self.best > float("-inf")

    def state_dict(self) -> dict:
        return {"best": self.best}

    def load_state_dict(self, state: dict) -> None:
        if self.path.exists():  # not so in another folder: there the best is of what comes
            self.best = state["best"]


class EarlyStopping:
    """Counts the evaluations since the score, of which more is better, last improved."""

    def __init__(self, patience: int, min_delta: float) -> None:
        self.patience, self.min_delta = patience, min_delta
        self.best, self.stale = float("-inf"), 0

    @property
    def stop(self) -> bool:
        return self.stale >= self.patience

    def step(self, score: float) -> None:
        if score > self.best + self.min_delta:
            self.best, self.stale = score, 0
        else:
            self.stale += 1

    def state_dict(self) -> dict:
        return {"best": self.best, "stale": self.stale}

    def load_state_dict(self, state: dict) -> None:
        self.best, self.stale = state["best"], state["stale"]


class MetricsFile:
    """Adds a line of JSON for each epoch, and one for the test.

    A checkpoint knows how long the file was: a resumed run writes later lines anew. In another
    folder it begins a file of its own.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0

    def __call__(self, progress: Progress, metrics: dict[str, float]) -> None:
        line = json.dumps({"update": progress.update, **metrics}) + "\n"
        with writing(self.path), self.path.open("ab") as file:
            kept = min(self.size, file.tell())
            file.truncate(kept)
            file.write(line.encode())
        self.size = kept + len(line)  # all of it is ASCII

    def state_dict(self) -> dict:
        return {"size": self.size}

    def load_state_dict(self, state: dict) -> None:
        self.size = state["size"]


def stop_on_nan(loss: float, progress: Progress) -> None:
    """Stop before such weights are evaluated or saved; the loss is the same on all processes."""
    if not math.isfinite(loss):
        raise SystemExit(
            f"The loss is {loss} at update {progress.update}: take a lower learning rate, or look "
            "at the data. The checkpoints are from before."
        )
