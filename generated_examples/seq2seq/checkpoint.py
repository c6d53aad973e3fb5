"""Save a run and resume it exactly. A checkpoint is complete or absent, even after a crash."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import torch
from accelerate.utils import broadcast_object_list, load

from environment import compare_settings, is_trial, write_config
from files import delete, flush, replacing, writing
from integrity import is_intact, refusing_code, write_checksums
from progress import log

# Settings that a resumed run can't change. The value is assumed where the setting does not exist.
FIXED = {"batch_size": None, "limit_batches": 0, "processes": 1, "seed": None, "weight_decay": None}


class Checkpoints:
    """Writes a folder for each checkpoint: weights, optimizer, random states, and all `states`."""

    def __init__(self, accelerator, config, progress, *states) -> None:
        self.accelerator, self.config, self.progress = accelerator, config, progress
        self.states: dict = {}  # by the names of their classes
        for state in (progress, *states):
            same = sum(type(state) is type(other) for other in self.states.values())
            self.states[f"{type(state).__name__}{same or ''}"] = state
        self.saved_step, self.saved_at = 0, time.monotonic()

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

    def save(self) -> None:
        """Save this step, if it is not saved yet. All processes call it together."""
        if self.saved_step == self.progress.step:
            return
        scratch = self.config.output_dir / f"checkpoint_{self.progress.step:08d}.partial"
        states = {name: state.state_dict() for name, state in self.states.items()}
        if self.accelerator.is_main_process:
            delete(scratch)
        self.accelerator.wait_for_everyone()
        self.accelerator.save_state(scratch)
        self.accelerator.save({"fixed": FIXED, "states": states}, scratch / "states.pt")
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            with writing(scratch):
                self.publish(scratch)
        self.accelerator.wait_for_everyone()
        self.saved_step, self.saved_at = self.progress.step, time.monotonic()

    def publish(self, scratch: Path) -> None:
        """Complete the scratch folder, rename it, and delete the oldest checkpoints."""
        folder, keep = scratch.parent, self.config.keep_checkpoints
        if len(list(scratch.glob("random_states_*"))) < self.accelerator.num_processes:
            raise SystemExit(f"{folder} must be on a disk that all processes share.")
        write_config(self.accelerator, self.config, scratch)
        if (folder / "best.safetensors").exists():
            shutil.copy(folder / "best.safetensors", scratch)
        with refusing_code(scratch):  # else a resume would fail
            torch.load(scratch / "states.pt", weights_only=True, mmap=True)
        write_checksums(scratch)
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
            self.set_aside(path)

    def set_aside(self, path: Path) -> None:
        """Rename the checkpoints of the folder that come after the resumed one."""
        for other in find_checkpoints(path.parent):
            if step_of(other) >= self.progress.step and other.resolve() != path.resolve():
                name = f"abandoned_{datetime.now():%Y-%m-%d_%H-%M-%S.%f}_{step_of(other):08d}"
                log(f"{other} comes after the resumed checkpoint: renamed to {name}")
                other.rename(other.with_name(name))
        if path.name.startswith("abandoned_"):
            path.rename(path.with_name(f"checkpoint_{self.progress.step:08d}"))

    def load(self, path: Path) -> None:
        """Restore everything as it was saved. Loading never runs code from a checkpoint."""
        with refusing_code(path):
            saved = torch.load(path / "states.pt", map_location="cpu", weights_only=True)
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


def find_resumed(config) -> Path | None:
    """The checkpoint that `--resume` names, or the newest of a run that is not damaged."""
    resume, found = config.resume, find_checkpoints(config.output_dir)
    if not resume:
        return None
    if resume != "newest":
        found = find_checkpoints(Path(resume)) or [Path(resume)]
    for path in reversed(found):
        if is_intact(path):
            return path
    path = config.output_dir if resume == "newest" else resume
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
def explain_interrupt(output_dir: Path) -> Iterator[None]:
    """After Ctrl-C, print which checkpoint is saved."""
    try:
        yield
    except KeyboardInterrupt:
        saved = find_checkpoints(output_dir)
        log(f"Interrupted. {saved[-1]} is saved." if saved else "Interrupted. Nothing is saved.")
        raise SystemExit(130) from None
