"""Save a run and resume it exactly. A checkpoint is complete or absent, even after a crash."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from pickle import PickleError

import torch
from accelerate.utils import broadcast_object_list
from safetensors import SafetensorError

from checksums import is_complete, matches_checksums, read_manifest, write_manifest
from environment import find_trial, log_changes, refuse_changes, write_config
from files import delete, flush, writing
from progress import log

# A resumed run can't change these: its batches would differ, or the optimizer has the value.
# Each is mapped to its value in a script that lacks the setting.
FIXED = {"batch_size": None, "limit_batches": 0, "processes": 1, "seed": None, "weight_decay": None}
UNFIT = re.compile("loading state_dict|PytorchStreamReader|custom checkpoints")  # wrong files


class Checkpoints:
    """Writes a folder for each checkpoint: weights, optimizer, random states, and all `states`."""

    def __init__(self, accelerator, config, progress, *states) -> None:
        self.accelerator, self.config, self.progress = accelerator, config, progress
        self.states: dict = {}  # by the names of their classes
        for state in (progress, *states):
            same = sum(type(state) is type(other) for other in self.states.values())
            self.states[f"{type(state).__name__}{same or ''}"] = state
        self.saved, self.saved_at = replace(self.progress), time.monotonic()
        self.history: list[str] = []  # the checkpoints of this run that are kept, oldest first

    def after_step(self) -> None:
        """Save every `checkpoint_every` steps or minutes. All processes call it together."""
        self.save_every("steps", self.progress.step)
        minutes = self.config.checkpoint_unit == "minutes" and self.config.checkpoint_every
        if minutes and self.progress.step % (self.config.log_every or 1) == 0:
            due = time.monotonic() - self.saved_at >= 60 * minutes
            if broadcast_object_list([due])[0]:  # the main process decides, because clocks differ
                self.save()

    def after_epoch(self) -> None:
        """Save every `checkpoint_every` epochs. All processes call it together."""
        self.save_every("epochs", self.progress.epoch)

    def save_every(self, unit: str, count: int) -> None:
        every = self.config.checkpoint_every
        if every and unit == self.config.checkpoint_unit and count % every == 0:
            self.save()

    def after_training(self) -> None:
        if self.saved != self.progress:
            self.save()

    def save(self) -> None:
        """Write a scratch folder, then rename it. All processes call it together."""
        scratch = self.config.output_dir / "checkpoint.partial"
        states = {name: state.state_dict() for name, state in self.states.items()}
        if self.accelerator.is_main_process:
            with writing(scratch):
                delete(scratch)
                scratch.mkdir(parents=True)
        self.accelerator.wait_for_everyone()
        with writing(scratch):
            self.accelerator.save_state(scratch)
            self.accelerator.save(states, scratch / "states.pt")
        self.accelerator.wait_for_everyone()
        write_config(self.accelerator, self.config, scratch)
        if self.accelerator.is_main_process:
            with writing(scratch):
                self.publish(scratch)
        self.accelerator.wait_for_everyone()
        self.saved, self.saved_at = replace(self.progress), time.monotonic()

    def publish(self, scratch: Path) -> None:
        """Rename a scratch folder, and delete the oldest checkpoints of this run."""
        folder, keep = scratch.parent, self.config.keep_checkpoints
        target = folder / f"checkpoint_{self.progress.step:08d}"
        while target.exists() or target.is_symlink():  # another run has saved this step
            target = target.with_name(f"{target.name}+")
        self.history.append(target.name)
        numbers = [read_manifest(path)["number"] for path in find_checkpoints(folder)]
        number = max(numbers, default=0) + 1  # tells which is the newest: a step can come again
        write_manifest(scratch, {"number": number, "history": self.history, "fixed": FIXED})
        scratch.rename(target)
        flush(folder)
        while keep and len(self.history) > keep:
            delete(folder / self.history.pop(0))

    def resume(self) -> None:
        """Load the checkpoint of `--resume`. Without it, start in a folder that holds no run."""
        folder, found = self.config.output_dir, find_checkpoints(self.config.output_dir)
        if incomplete := sorted(set(folder.glob("checkpoint_*")) - set(found)):
            log(f"ignoring damaged or incomplete: {', '.join(path.name for path in incomplete)}")
        path = find_resumed(self.config)
        damaged: list[Path] = []
        while path and not matches_checksums(path):
            damaged.append(path)
            path = find_resumed(self.config, damaged)
        old = [folder / "checkpoint.partial"]
        if path and path.absolute().parent.resolve() == folder.resolve():
            history = read_manifest(path)["history"]
            self.history = [saved.name for saved in found if saved.name in history]
            if others := [saved.name for saved in found if saved.name not in history]:
                log(f"keeping checkpoints that this run does not continue: {', '.join(others)}")
        else:
            old += find_trial(self.config, found)
        if path:
            self.load(path)
        self.accelerator.wait_for_everyone()  # all processes have seen the old files
        if self.accelerator.is_main_process:
            for leftover in old:
                delete(leftover)

    def load(self, path: Path) -> None:
        """Restore everything as it was saved. Nothing in a checkpoint is executed."""
        fixed = {**read_manifest(path).get("fixed", {}), **FIXED}
        refuse_changes(self.accelerator, self.config, path, fixed)
        log_changes(self.accelerator, self.config, path, fixed)
        try:
            states = torch.load(path / "states.pt", map_location="cpu", weights_only=True)
            torch.seed()  # any other state, which load_state has to replace
            before = torch.get_rng_state()
            self.accelerator.load_state(path)
            if torch.equal(torch.get_rng_state(), before):  # load_state only logs this
                raise ValueError("its random state can't be read")
            for name, state in self.states.items():
                if name in states:
                    state.load_state_dict(states[name])
            for name in sorted(states.keys() ^ self.states.keys()):
                log(f"{name} is only in {'the checkpoint' if name in states else 'this run'}")
        except (OSError, RuntimeError, ValueError, KeyError, PickleError, SafetensorError) as error:
            reason = str(error).partition("\n")[0]
            if isinstance(error, PickleError):  # its own message suggests loading the file anyway
                match = re.search(r"GLOBAL (\S+)", str(error))
                reason = f"it holds {match[1] if match else 'an object'}, and might run code"
            elif isinstance(error, ConnectionError | RuntimeError) and not UNFIT.search(reason):
                raise  # such as out of memory, or a lost connection
            raise SystemExit(f"{path} does not fit this model or optimizer: {reason}") from error
        self.saved = replace(self.progress)
        self.accelerator.wait_for_everyone()
        log(f"resumed {path} at step {self.progress.step}")


def find_checkpoints(output_dir: Path) -> list[Path]:
    """The complete checkpoints of a folder, in the order in which they were saved."""
    found = filter(is_complete, output_dir.glob("checkpoint_*"))
    return sorted(found, key=lambda path: read_manifest(path)["number"])


def find_resumed(config, damaged=()) -> Path | None:
    """The checkpoint of `--resume`, the newest or a path, but not one of `damaged`."""
    resume, found = config.resume, find_checkpoints(config.output_dir)
    if not resume:
        return None
    if resume != "newest":
        found = [path for path in [Path(resume)] if is_complete(path)]
    intact = [path for path in found if path not in damaged]
    if not intact:
        path = config.output_dir if resume == "newest" else resume
        raise SystemExit(f"No complete checkpoint to resume: {path}.")
    return intact[-1]


@contextmanager
def explain_interrupt(output_dir: Path) -> Iterator[None]:
    """After Ctrl-C, print which checkpoint is saved."""
    try:
        yield
    except KeyboardInterrupt:
        saved = find_checkpoints(output_dir)
        log(f"Interrupted. {saved[-1]} is saved." if saved else "Interrupted. Nothing is saved.")
        raise SystemExit(130) from None
