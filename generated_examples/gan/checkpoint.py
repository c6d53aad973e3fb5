"""Save a run and resume it exactly. A checkpoint is complete or absent, even after a crash."""

import json
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from pickle import PickleError

import torch
from accelerate.utils import broadcast_object_list, load

from environment import compare_settings, is_trial
from files import checksum, delete, flush, writing
from progress import log

# Settings that a resumed run can't change, each with its value in a script that does not have it
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
        scratch = self.config.output_dir / "checkpoint.partial"
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
        """Give a complete scratch folder its name, and delete the oldest checkpoints."""
        folder, keep = scratch.parent, self.config.keep_checkpoints
        shutil.copy(folder / "config.json", scratch)
        files = [path for path in scratch.rglob("*") if path.is_file()]
        with ThreadPoolExecutor() as pool:
            pool.map(flush, files)  # the disk writes while checksums are computed
            checksums = {str(path.relative_to(scratch)): checksum(path) for path in files}
        (scratch / "checksums.json").write_text(json.dumps(checksums, indent=1))
        for path in [*scratch.rglob("*"), scratch]:
            flush(path)
        scratch.rename(folder / f"checkpoint_{self.progress.step:08d}")
        flush(folder)
        if keep:
            for old in find_checkpoints(folder)[:-keep]:
                delete(old)

    def resume(self) -> None:
        """Load the checkpoint of `--resume`. Without it, start in a folder that holds no run."""
        folder, path = self.config.output_dir, find_resumed(self.config)
        same_folder = path and path.absolute().parent.resolve() == folder.resolve()
        trial = [] if same_folder else find_trial(folder)
        if path:
            self.load(path)
        self.accelerator.wait_for_everyone()  # all processes have seen the old files
        if self.accelerator.is_main_process:
            for leftover in [folder / "checkpoint.partial", *trial]:
                delete(leftover)
            for other in find_checkpoints(folder) if same_folder else []:
                if step_of(other) >= self.progress.step and other.name != path.name:
                    name = f"abandoned_{datetime.now():%Y-%m-%d_%H-%M-%S.%f}_{other.name[11:]}"
                    log(f"{other} is not part of this run: renamed to {name}")
                    other.rename(folder / name)

    def load(self, path: Path) -> None:
        """Restore everything as it was saved. Loading never runs code from a checkpoint."""
        try:
            saved = torch.load(path / "states.pt", map_location="cpu", weights_only=True)
            compare_settings(self.accelerator, self.config, path, {**saved["fixed"], **FIXED})
            self.accelerator.load_state(path)
            # load_state() only logs if it can't read this file
            load(path / f"random_states_{self.accelerator.process_index}.pkl")
        except PickleError as error:  # PyTorch's message suggests loading the file anyway
            raise SystemExit(f"{path} holds more than data, and might run code.") from error
        states = saved["states"]
        for name, state in self.states.items():
            if name in states:
                state.load_state_dict(states[name])
        for name in sorted(states.keys() ^ self.states.keys()):
            log(f"{name} is only in {'the checkpoint' if name in states else 'this run'}")
        self.saved_step = self.progress.step
        log(f"resumed from {path} at step {self.progress.step}")


def find_checkpoints(output_dir: Path) -> list[Path]:
    """The checkpoints of a folder, from the oldest to the newest."""
    found = output_dir.glob("checkpoint_*")
    return sorted([path for path in found if path.name[11:].isdigit()], key=step_of)


def step_of(path: Path) -> int:
    return int(path.name[11:])


def find_trial(folder: Path) -> list[Path]:
    """The results of a trial run, to overwrite. Exits if the folder holds any other run."""
    weights = folder / "best.safetensors", folder / "model.safetensors"
    results = [*find_checkpoints(folder), *(path for path in weights if path.exists())]
    if results and not is_trial(folder):
        raise SystemExit(f"{folder} holds a run: --resume it, or use another --output-dir.")
    if results:
        log(f"overwriting the trial run in {folder}, started with --limit-batches")
    return results


def find_resumed(config) -> Path | None:
    """The checkpoint of `--resume`: the one it names, or the newest that is not damaged."""
    resume, found = config.resume, find_checkpoints(config.output_dir)
    if not resume:
        return None
    for path in reversed(found) if resume == "newest" else [Path(resume)]:
        if is_intact(path):
            return path
    path = config.output_dir if resume == "newest" else resume
    raise SystemExit(f"No complete checkpoint to resume: {path}.")


def is_intact(folder: Path) -> bool:
    """Whether all files of a checkpoint are as they were saved. Names those that are not."""
    try:
        saved = json.loads((folder / "checksums.json").read_text())
        changed = [name for name in saved if checksum(folder / name) != saved[name]]
    except (OSError, ValueError) as error:
        changed = [str(error)]
    if changed:
        print(f"{folder} is damaged or incomplete: {', '.join(changed)}")
    return not changed


@contextmanager
def explain_interrupt(output_dir: Path) -> Iterator[None]:
    """After Ctrl-C, print which checkpoint is saved."""
    try:
        yield
    except KeyboardInterrupt:
        saved = find_checkpoints(output_dir)
        log(f"Interrupted. {saved[-1]} is saved." if saved else "Interrupted. Nothing is saved.")
        raise SystemExit(130) from None
