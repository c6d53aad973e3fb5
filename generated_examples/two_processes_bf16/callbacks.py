"""Objects that the loop calls by name. Each keeps its own state."""

import json
from pathlib import Path

from accelerate import Accelerator, PartialState
from accelerate.utils import broadcast_object_list
from torch import nn

from checksums import checksum
from files import load_weights, save_weights, writing
from progress import log


class BestModel:
    """Saves the weights with the best score so far. Higher is better."""

    def __init__(self, accelerator: Accelerator, path: Path) -> None:
        self.accelerator, self.path = accelerator, path
        self.score = float("-inf")
        self.checksum = ""

    def update(self, score: float, model: nn.Module) -> None:
        """Save the weights if the score is better. All processes call it together."""
        if score > self.score:  # always false for NaN
            save_weights(self.accelerator, model, self.path)
            self.score = score
            self.checksum = checksum(self.path)

    def load(self, model: nn.Module) -> None:
        """Load the best weights, if there are any. All processes call it together."""
        if self.score > float("-inf"):
            load_weights(self.accelerator, model, self.path)

    def state_dict(self) -> dict:
        return {"score": self.score, "checksum": self.checksum}

    def load_state_dict(self, state: dict) -> None:
        # another run may have replaced the file; the main process decides for all processes
        unchanged = broadcast_object_list([checksum(self.path) == state.get("checksum")])[0]
        if unchanged:
            self.score, self.checksum = state["score"], state["checksum"]
        else:
            log(f"{self.path} is not the best model of this checkpoint: it will be replaced")


class MetricsFile:
    """Appends lines of JSON. A resumed run overwrites the lines after its checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = path, 0

    def append(self, step: int, metrics: dict[str, float]) -> None:
        if not PartialState().is_main_process:
            return
        line = json.dumps({"step": step, **metrics}) + "\n"
        with writing(self.path), self.path.open("ab") as file:
            size = min(self.size, file.tell())  # the file is new if the folder is another one
            file.truncate(size)
            file.write(line.encode())
        self.size = size + len(line)

    def state_dict(self) -> dict:
        return {"size": self.size}

    def load_state_dict(self, state: dict) -> None:
        self.size = state["size"]
