#: file when loop=complete
"""The progress of a run, the progress bar, and the log."""

import sys
from dataclasses import asdict, dataclass
from itertools import islice

from accelerate import PartialState
from tqdm import tqdm


@dataclass
class Progress:
    batches_per_epoch: int = 0  # on each process
    epoch: int = 0  # finished epochs
    batch: int = 0  # finished batches of the current epoch, on each process
    step: int = 0  # optimizer steps

    def state_dict(self) -> dict:
        return asdict(self)

    def load_state_dict(self, state: dict) -> None:
        old, new = state["batches_per_epoch"], self.batches_per_epoch
        if new != old:
            raise SystemExit(f"An epoch had {old} batches, and now has {new}: start a new run.")
        self.epoch, self.batch, self.step = state["epoch"], state["batch"], state["step"]


def count_steps(loader, config) -> tuple[int, int]:
    """Batches per epoch on each process, and steps of the run. Call it after prepare()."""
    #: region epoch_batches
    if not len(loader):
        raise SystemExit("The training data does not fill one batch: use a smaller --batch-size.")
    batches = min(len(loader), config.limit_batches or len(loader))
    #: end epoch_batches
    #: region steps
    steps = config.epochs * batches
    #: end steps
    return batches, min(steps, config.max_steps or steps)


def progress_bar(batches, done: int, total: int) -> tqdm:
    """The batches of an epoch up to `total`, with a progress bar in the main process's terminal."""
    remaining = islice(batches, total - done)
    disable = None if PartialState().is_main_process else True  # None: off if there is no terminal
    return tqdm(remaining, initial=done, total=total, leave=False, disable=disable)


def log(text: str) -> None:
    """Print a line on the main process, above the progress bar."""
    if PartialState().is_main_process:
        tqdm.write(text)
        sys.stdout.flush()
