"""Your own functions at moments of the run: put them into HOOKS.

A hook takes the Run, and is called on all processes, in the order of its list:

    def print_norm(run: Run) -> None:
        if run.accelerator.is_main_process and run.progress.update % 100 == 0:
            write_line(f"norm {nn.utils.get_total_norm(run.model.parameters()):.1f}")

    def stop_when_good(run: Run) -> None:
        if run.metrics["val_{{ task.metrics[0] }}"] < 0.1:
            run.ask_to_stop()

A moment of your own: give it a list in HOOKS, and call it where it is in train.py, as
`hooks.call("my_moment")`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from accelerate import Accelerator
from torch import nn

from checkpoint import Progress


@dataclass
class Run:
    """The run as it stands."""

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
    "run_start": [],  # after a resume
    "epoch_start": [],  # also where a resumed run goes on in the middle of one
    "step_start": [],  # the gradients are complete, and not yet used
    "step_end": [],  # the weights have changed
    "evaluation_start": [],
    "evaluation_end": [],
    "epoch_end": [],  # not yet saved
    "run_end": [],  # after the test
}


class Hooks:
    """Calls the hooks, and lets the processes agree on a stop that one of them asks for."""

    def __init__(self, run: Run) -> None:
        self.run, self.stopped = run, False

    def call(self, moment: str, metrics: dict[str, float] | None = None) -> None:
        if metrics is not None:
            self.run.metrics = metrics
        for hook in HOOKS[moment]:
            hook(self.run)

    def agree(self) -> bool:
        """Whether to stop now. All processes call it together, so not at every step."""
        if self.any_asked():
            self.stopped, self.run.stop_asked = True, False
        return self.stopped

    def any_asked(self) -> bool:
        asked = torch.tensor(float(self.run.stop_asked), device=self.run.accelerator.device)
        return bool(self.run.accelerator.reduce(asked, "sum") > 0)

    def state_dict(self) -> dict:
        """Whether a stop is still to come. All processes call it together."""
        return {"stop_asked": self.any_asked()}

    def load_state_dict(self, state: dict) -> None:
        self.run.stop_asked = state["stop_asked"]
