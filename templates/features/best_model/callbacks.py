from pathlib import Path

from accelerate import Accelerator
from torch import nn

from weights import load_weights, save_weights

#: slot classes
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

    #: slot best_model_state

#: slot best_model_state with checkpoints
def state_dict(self) -> dict:
    return {"score": self.score}

def load_state_dict(self, state: dict) -> None:
    self.score = state["score"]
