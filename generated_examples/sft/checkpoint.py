"""Save a run and resume it exactly. A checkpoint is complete or absent, even after a crash."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from pickle import PickleError

import torch
from accelerate.utils import broadcast_object_list, load

from environment import compare_settings, is_trial, write_config
from files import delete, flush, replacing
from progress import log

# Settings that a resumed run can't change. The value is assumed where the setting does not exist.
FIXED = {"batch_size": None, "limit_batches": 0, "processes": 1, "seed": None, "weight_decay": None}
FIXED |= {"context": None}


class Checkpoints:
    """Writes a folder for each checkpoint: weights, optimizer, random states, and all `states`."""

    def __init__(self, accelerator, config, progress, *states) -> None:
        self.accelerator, self.config, self.progress = accelerator, config, progress
        self.states: dict = {}  # by the names of their classes
        for state in (progress, *states):
            same = sum(type(state) is type(other) for other in self.states.values())
            self.states[f"{type(state).__name__}{same or ''}"] = state
        self.saved_step = 0

    def after_step(self) -> None:
        """Save every `checkpoint_every` steps. All processes call it together."""
        self.save_every("steps", self.progress.step)

    def after_epoch(self) -> None:
        """Save every `checkpoint_every` epochs. All processes call it together."""
        self.save_every("epochs", self.progress.epoch)

    def save_every(self, unit: str, count: int) -> None:
        every = self.config.checkpoint_every
        if every and unit == self.config.checkpoint_unit and count % every == 0:
            self.save()

    def save(self) -> None:
        """Save this step, if it is not saved yet. All processes call it together."""
        if self.saved_step == self.progress.step:
            return
        scratch = self.config.output_dir / f"checkpoint_{self.progress.step:08d}.partial"
        states = {name: state.state_dict() for name, state in self.states.items()}
        self.accelerator.save_state(scratch)
        self.accelerator.save({"fixed": FIXED, "states": states}, scratch / "run.pt")
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            self.publish(scratch)
        self.accelerator.wait_for_everyone()
        self.saved_step = self.progress.step

    def publish(self, scratch: Path) -> None:
        """Complete the scratch folder, rename it, and delete the oldest checkpoints."""
        folder, keep = scratch.parent, self.config.keep_checkpoints
        if len(list(scratch.glob("random_states_*"))) < self.accelerator.num_processes:
            raise SystemExit(f"{folder} must be on a disk that all processes share.")
        write_config(self.accelerator, self.config, scratch)
        if (folder / "best.safetensors").exists():
            shutil.copy(folder / "best.safetensors", scratch)
        with refusing_objects(scratch):  # else a resume would fail
            torch.load(scratch / "run.pt", weights_only=True, mmap=True)
        for path in [*scratch.rglob("*"), scratch]:
            flush(path)
        scratch.rename(scratch.with_suffix(""))
        flush(folder)
        if keep:
            for old in find_checkpoints(folder)[:-keep]:
                delete(old)

    def resume(self) -> None:
        """Load the checkpoint of `--resume`. Without it, exit if the folder holds a run."""
        folder, main = self.config.output_dir, self.accelerator.is_main_process
        path = broadcast_object_list([find_resumed(self.config) if main else None])[0]
        same_folder = path and path.absolute().parent.resolve() == folder.resolve()
        trial = [] if same_folder else check_folder(folder)
        self.accelerator.wait_for_everyone()  # all processes have checked the folder
        if main:
            for leftover in [*folder.glob("checkpoint_*.partial"), *trial]:
                delete(leftover)
        if path:
            self.load(path)
        self.accelerator.wait_for_everyone()  # all processes have loaded it
        if main and same_folder:
            self.set_aside(path.parent)

    def set_aside(self, folder: Path) -> None:
        """Move checkpoints that come after the resumed one to a folder of their own."""
        newer = [path for path in find_checkpoints(folder) if step_of(path) > self.progress.step]
        if newer:
            abandoned = folder / f"abandoned_{datetime.now():%Y-%m-%d_%H-%M-%S}"
            abandoned.mkdir()
            for path in newer:
                log(f"{path} comes after the resumed checkpoint: moved to {abandoned}")
                path.rename(abandoned / path.name)

    def load(self, path: Path) -> None:
        """Restore everything as it was saved. Loading never runs code from a checkpoint."""
        with refusing_objects(path):
            saved = torch.load(path / "run.pt", map_location="cpu", weights_only=True)
            compare_settings(self.accelerator, self.config, path, {**saved["fixed"], **FIXED})
            self.accelerator.load_state(path)
            # load_state() only logs an error if it can't read this file
            load(path / f"random_states_{self.accelerator.process_index}.pkl")
        states = saved["states"]
        for name, state in self.states.items():
            if name in states:
                state.load_state_dict(states[name])
        for name in sorted(states.keys() ^ self.states.keys()):
            where = "the checkpoint: ignored" if name in states else "this run: it starts anew"
            log(f"{name} is only in {where}")
        if self.accelerator.is_main_process and (path / "best.safetensors").exists():
            with replacing(self.config.output_dir / "best.safetensors") as scratch:
                shutil.copy(path / "best.safetensors", scratch)
        self.saved_step = self.progress.step
        log(f"resumed from {path} at step {self.progress.step}")


def find_checkpoints(output_dir: Path) -> list[Path]:
    """The checkpoints of a folder, from the oldest to the newest."""
    found = output_dir.glob("checkpoint_*")
    named = [path for path in found if path.name.removeprefix("checkpoint_").isdecimal()]
    return sorted(named, key=step_of)


def step_of(path: Path) -> int:
    return int(path.name.removeprefix("checkpoint_"))


def newest_checkpoint(output_dir: Path) -> Path | None:
    return next(reversed(find_checkpoints(output_dir)), None)


def find_resumed(config) -> Path | None:
    """The checkpoint of `--resume`: the newest of a folder, or the one that it names."""
    if not config.resume:
        return None
    path = config.output_dir if config.resume == "newest" else Path(config.resume)
    for found in reversed(find_checkpoints(path) or [path]):
        if (found / "run.pt").exists():
            return found
    raise SystemExit(f"No complete checkpoint to resume: {path}.")


def check_folder(folder: Path) -> list[Path]:
    """The results of a trial run, to overwrite. Exits if the folder holds any other run."""
    checkpoints = find_checkpoints(folder)
    weights = folder / "best.safetensors", folder / "model.safetensors"
    results = [*checkpoints, *(path for path in weights if path.exists())]
    if results and not all(map(is_trial, [folder, *checkpoints])):
        raise SystemExit(f"{folder} holds a run: --resume it, or use another --output-dir.")
    if results:
        log(f"overwriting the trial run in {folder}, started with --limit-batches")
    return results


@contextmanager
def refusing_objects(path: Path) -> Iterator[None]:
    """Exit if a checkpoint holds objects, because loading them could run code."""
    try:
        yield
    except PickleError as error:  # PyTorch's own message suggests running the code
        name = re.search(r"GLOBAL (\S+)", str(error))
        what = name[1] if name else "an object"
        raise SystemExit(f"{path} holds {what}: states are tensors, numbers and text.") from error
