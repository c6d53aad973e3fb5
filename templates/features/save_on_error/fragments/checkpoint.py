import random
import sys
import weakref
from copy import copy
from functools import partial
from types import TracebackType

import numpy as np
import torch

#: slot checkpoints_setup
self.aside: tuple | None = None  # what was put aside after the last update; None within one
# the hook outlives the run, and must not keep the model alive
sys.excepthook = partial(show_and_save, weakref.ref(self))

#: slot checkpoints_after_epoch
self.end_update()  # an epoch that was evaluated and counted is not to be so again

#: slot checkpoints_methods
def begin_update(self) -> None:
    """From here on the weights are no longer those of the last update."""
    self.aside = None

def end_update(self) -> None:
    """Put aside what the next batch or an evaluation changes before the next update."""
    values = {
        name: {key: duplicate(value) for key, value in vars(state).items()}
        for name, state in self.states.items()
    }
    chance = torch.get_rng_state(), torch.cuda.get_rng_state_all()
    self.aside = values, random.getstate(), np.random.get_state(), *chance

def save_last_update(self) -> None:
    """Save the last update that was whole, where one process alone can."""
    if self.accelerator.num_processes > 1:
        print("not saved: that takes all processes, and the others may wait for this one")
    elif self.aside is None:
        print("not saved: there is no whole update, or the error came within one")
    else:
        values, python_chance, numpy_chance, chance, device_chance = self.aside
        for name, state in self.states.items():
            vars(state).update(values[name])
        random.setstate(python_chance)
        np.random.set_state(numpy_chance)
        torch.set_rng_state(chance)
        torch.cuda.set_rng_state_all(device_chance)
        if self.saved != self.progress:
            self.save()
        print(f"update {self.progress.update} is saved: go on with --resume")

#: slot functions
def duplicate(value):
    """The value, or a copy if it may be changed in place."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return copy(value) if isinstance(value, list | dict) else value


def show_and_save(
    checkpoints: weakref.ref, kind: type, error: BaseException, trace: TracebackType | None
) -> None:
    """Python calls it with an error that nothing caught."""
    sys.__excepthook__(kind, error, trace)
    if run := checkpoints():
        run.save_last_update()
