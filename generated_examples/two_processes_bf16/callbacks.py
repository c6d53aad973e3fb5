"""Objects that the loop calls during training. Each keeps its own state."""

import json
from pathlib import Path

from accelerate import Accelerator, PartialState
from torch import nn

from files import load_weights, replacing, save_weights, writing


class BestModel:
    """Saves the weights with the best score so far. Higher is better."""

    def __init__(self, accelerator: Accelerator, path: Path) -> None:
        self.accelerator, self.path = accelerator, path
        self.score = float("-inf")

    def update(self, score: float, model: nn.Module) -> None:
        """Save the weights if the score is better. Call it on all processes."""
        if score > self.score:  # always false for NaN
            save_weights(self.accelerator, model, self.path)
            self.score = float(score)

    def load(self, model: nn.Module) -> None:
        """Load the best weights, if there are any. Call it on all processes."""
        if self.score > float("-inf"):
            load_weights(self.accelerator, model, self.path)

    def state_dict(self) -> dict:
        return {"score": self.score}

    def load_state_dict(self, state: dict) -> None:
        self.score = state["score"]


class MetricsFile:
    """Writes a line of JSON for each log line and each evaluation."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0  # the first line replaces the file of an earlier run

    def append(self, step: int, metrics: dict[str, float]) -> None:
        if PartialState().is_main_process:
            with writing(self.path), self.path.open("a" if self.size else "w") as file:
                file.write(json.dumps({"step": step, **metrics}) + "\n")
                self.size = file.tell()

    def state_dict(self) -> dict:
        return {"text": self.path.read_text()[: self.size] if self.size else ""}

    def load_state_dict(self, state: dict) -> None:
        if PartialState().is_main_process:
            with replacing(self.path) as scratch:
                self.size = scratch.write_text(state["text"])
