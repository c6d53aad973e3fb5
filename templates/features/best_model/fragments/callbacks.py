import hashlib
from pathlib import Path

from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from progress import log
from torch import nn
from files import load_weights, save_weights

#: slot classes
class BestModel:
    """Saves the weights with the best score so far. Higher is better."""

    def __init__(self, accelerator: Accelerator, path: Path) -> None:
        self.accelerator, self.path = accelerator, path
        self.score, self.digest = float("-inf"), ""

    def update(self, score: float, model: nn.Module) -> None:
        """Save the weights if the score is better. All processes call it together."""
        if score > self.score:  # NaN never is
            save_weights(self.accelerator, model, self.path)
            self.score, self.digest = score, file_digest(self.path)

    def load(self, model: nn.Module) -> None:
        """Load the best weights, if there are any. All processes call it together."""
        if self.score > float("-inf"):
            load_weights(self.accelerator, model, self.path)

    def state_dict(self) -> dict:
        return {"score": self.score, "digest": self.digest}

    def load_state_dict(self, state: dict) -> None:
        # another run may have replaced the file; the main process decides for all
        unchanged = broadcast_object_list([file_digest(self.path) == state["digest"]])[0]
        if unchanged:
            self.score, self.digest = state["score"], state["digest"]
        else:
            log(f"{self.path} is not the best model of this checkpoint: it will be replaced")


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, or nothing if there is no such file."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
