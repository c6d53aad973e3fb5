"""Stop a run when a scheduler asks for it: save a checkpoint, and end with status 75."""

import signal
from functools import partial

import torch
from accelerate import Accelerator

from metrics import log
from signals import SIGNALS


class StopSignals:
    """Notes the signals that a process receives, and stops all processes at the same step."""

    def __init__(self, accelerator: Accelerator, log_every: int) -> None:
        self.accelerator, self.every = accelerator, log_every or 1
        # the handler outlives the run, and must keep only this list alive
        self.received: list[int] = []
        for name in SIGNALS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), partial(note_signal, self.received))

    def after_step(self, checkpoints) -> None:
        """Several processes check only every `log_every` steps, because it makes them wait."""
        step = checkpoints.progress.step
        if self.accelerator.num_processes == 1 or step % self.every == 0:
            self.stop_if_received(checkpoints)

    def stop_if_received(self, checkpoints) -> None:
        """Save and stop if any process got a signal. Call it on all processes."""
        stopping = bool(self.received)
        if self.accelerator.num_processes > 1:
            votes = torch.tensor(float(stopping), device=self.accelerator.device)
            stopping = self.accelerator.reduce(votes, "sum") > 0
        if stopping:
            checkpoints.save()
            log(f"stopped by a signal at step {checkpoints.progress.step}: continue with --resume")
            raise SystemExit(75)  # EX_TEMPFAIL of sysexits.h: try again later


def note_signal(received: list[int], number: int, frame) -> None:
    """A second Ctrl-C interrupts at once."""
    received.append(number)
    if number == signal.SIGINT:
        signal.signal(number, signal.default_int_handler)
