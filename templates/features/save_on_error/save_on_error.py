#: file
"""Save the last step when an error or Ctrl-C ends training."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy

import numpy as np
import torch
from checkpoint import Checkpoints
from torch import nn


class LastStep:
    """Remembers what a batch or an evaluation changes before the next step.

    These are the states of the checkpoints, the random states, and the buffers of the model, such
    as the means of BatchNorm. Weights and optimizer change only in a step.
    """

    def __init__(self, checkpoints: Checkpoints, model: nn.Module) -> None:
        self.checkpoints = checkpoints
        # several processes must save together, but the others don't know about the error
        self.alone = checkpoints.accelerator.num_processes == 1
        saved = model.state_dict().keys()
        self.buffers = [buffer for name, buffer in model.named_buffers() if name in saved]
        self.remembered: tuple | None = None

    def forget(self) -> None:
        """Call it before each step: an error within the step leaves nothing to save."""
        self.remembered = None

    def remember(self) -> None:
        """Call it after each step, and after each epoch."""
        if self.alone:
            states = {
                name: {key: duplicate(value) for key, value in vars(state).items()}
                for name, state in self.checkpoints.states.items()
            }
            buffers = [buffer.clone() for buffer in self.buffers]
            generators = torch.get_rng_state(), torch.cuda.get_rng_state_all()
            self.remembered = states, buffers, random.getstate(), np.random.get_state(), generators

    @contextmanager
    def saved_on_error(self) -> Iterator[None]:
        try:
            yield
        except (Exception, KeyboardInterrupt):
            self.save()
            raise

    @torch.no_grad()
    def save(self) -> None:
        if not self.alone:
            print("not saved: all processes would have to save together")
        elif self.remembered is None:
            print("not saved: the error happened during a step, or before the first one")
        else:
            states, buffers, python_state, numpy_state, generators = self.remembered
            for name, state in self.checkpoints.states.items():
                vars(state).update(states[name])
            for buffer, value in zip(self.buffers, buffers, strict=True):
                buffer.copy_(value)
            random.setstate(python_state)
            np.random.set_state(numpy_state)
            torch.set_rng_state(generators[0])
            torch.cuda.set_rng_state_all(generators[1])
            self.checkpoints.save()
            print(f"step {self.checkpoints.progress.step} is saved: continue with --resume")


def duplicate(value):
    """The value, or a copy if it can change in place."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return copy(value) if isinstance(value, list | dict) else value
