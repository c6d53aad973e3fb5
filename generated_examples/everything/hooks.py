"""Your own functions, called at certain points of a run: add them to HOOKS.

A hook takes the Run. It is called on all processes, in the order of its list:

    def print_norm(run: Run) -> None:
        if run.progress.step % 100 == 0:
            log(f"norm {nn.utils.get_total_norm(run.model.parameters()):.1f}")

    def stop_when_good(run: Run) -> None:
        if run.metrics["val_loss"] < 0.1:
            run.ask_to_stop()

To add a point, add a list to HOOKS, and call `hooks.call("my_point")` in train.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from accelerate import Accelerator
from torch import nn

from metrics import Progress


@dataclass
class Run:
    """What hooks can read and change."""

    accelerator: Accelerator
    config: object
    model: nn.Module
    optimizer: torch.optim.Optimizer
    progress: Progress
    metrics: dict[str, float] = field(default_factory=dict)  # of the last evaluation
    stop_asked: bool = False

    def ask_to_stop(self) -> None:
        """End the run on all processes, at the next log line or end of an epoch."""
        self.stop_asked = True


HOOKS: dict[str, list[Callable[[Run], None]]] = {
    "run_start": [],  # after loading a checkpoint, if there is one
    "epoch_start": [],  # also when a run resumes in the middle of an epoch
    "step_start": [],  # the gradients are complete
    "step_end": [],  # the weights are updated
    "evaluation_start": [],
    "evaluation_end": [],
    "epoch_end": [],  # before the checkpoint
    "run_end": [],  # after the test
}


class Hooks:
    """Calls the hooks, and stops all processes if one of them requests it."""

    def __init__(self, run: Run) -> None:
        self.run, self.stopped = run, False

    def call(self, moment: str, metrics: dict[str, float] | None = None) -> None:
        if metrics is not None:
            self.run.metrics = metrics
        for hook in HOOKS[moment]:
            hook(self.run)

    def agree(self) -> bool:
        """Whether to stop now. Call it on all processes."""
        if self.any_asked():
            self.stopped, self.run.stop_asked = True, False
        return self.stopped

    def any_asked(self) -> bool:
        asked = torch.tensor(float(self.run.stop_asked), device=self.run.accelerator.device)
        return bool(self.run.accelerator.reduce(asked, "sum") > 0)

    def state_dict(self) -> dict:
        """The pending stop request. Call it on all processes."""
        return {"stop_asked": self.any_asked()}

    def load_state_dict(self, state: dict) -> None:
        self.run.stop_asked = state["stop_asked"]
