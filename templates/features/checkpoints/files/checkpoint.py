"""Save a run and resume it exactly. A checkpoint is complete or absent, even after a crash."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from pickle import PickleError

import torch
from accelerate.utils import broadcast_object_list, load
from environment import compare_settings, is_trial, write_config
from files import delete, flush
from progress import log

# Settings that a resumed run can't change: they shape the batches or the optimizer's state.
FIXED = {"batch_size", "limit_batches", "processes", "seed", "weight_decay"}
#: slot fixed


class Checkpoints:
    """Writes a folder for each checkpoint: weights, optimizer, random states, and all `states`."""

    def __init__(self, accelerator, config, progress, states) -> None:
        self.accelerator, self.config, self.progress = accelerator, config, progress
        self.states = {"progress": progress, **states}
        self.saved_step = 0
        #: slot checkpoints_setup

    def after_step(self) -> None:
        """Save every `checkpoint_every` steps. Call it on all processes."""
        self.save_every("steps", self.progress.step)
        #: slot checkpoints_after_step

    def after_epoch(self) -> None:
        """Save every `checkpoint_every` epochs. Call it on all processes."""
        self.save_every("epochs", self.progress.epoch)

    def save_every(self, unit: str, count: int) -> None:
        every = self.config.checkpoint_every
        if every and unit == self.config.checkpoint_unit and count % every == 0:
            self.save()

    def save(self) -> None:
        """Save this step, unless it is saved already. Call it on all processes."""
        if self.saved_step == self.progress.step:
            return
        scratch = self.config.output_dir / f"checkpoint_{self.progress.step:08d}.partial"
        states = {name: state.state_dict() for name, state in self.states.items()}
        #: slot checkpoints_before_write
        #: region save_state
        self.accelerator.save_state(scratch)
        #: end save_state
        self.accelerator.save({"fixed": sorted(FIXED), "states": states}, scratch / "run.pt")
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            self.publish(scratch)
        self.accelerator.wait_for_everyone()
        self.saved_step = self.progress.step
        #: slot checkpoints_saved

    def publish(self, scratch: Path) -> None:
        """Complete the scratch folder, rename it, and delete the oldest checkpoints."""
        folder, keep = scratch.parent, self.config.keep_checkpoints
        if len(list(scratch.glob("random_states_*"))) < self.accelerator.num_processes:
            raise SystemExit(f"{folder} must be on a disk that all processes share.")
        write_config(self.accelerator, self.config, scratch)
        #: slot kept_files
        with refusing_objects(scratch):  # now, and not when the run resumes
            torch.load(scratch / "run.pt", weights_only=True, mmap=True)
        #: region flush
        for path in [*scratch.rglob("*"), scratch]:
            flush(path)
        #: end flush
        scratch.rename(scratch.with_suffix(""))
        flush(folder)
        if keep:
            for old in find_checkpoints(folder)[:-keep]:
                delete(old)

    def resume(self) -> None:
        """Load the checkpoint of `--resume`. Without it, exit if the folder holds a run."""
        folder, path = self.config.output_dir, find_resumed(self.config)
        path = broadcast_object_list([path])[0]  # the choice of the main process
        same_folder = path and path.parent.resolve() == folder.resolve()
        results = [] if same_folder else find_results(folder)
        #: slot found_results
        if results and not all(map(is_trial, [folder, *find_checkpoints(folder)])):
            raise SystemExit(f"{folder} holds a run: --resume it, or use another --output-dir.")
        if results:
            log(f"overwriting the trial run in {folder}, started with --limit-batches")
        self.accelerator.wait_for_everyone()  # all have looked before anything is deleted
        if self.accelerator.is_main_process:
            for old in [*folder.glob("checkpoint_*.partial"), *results]:
                delete(old)
        if path:
            self.load(path)
        if same_folder:
            self.saved_step = self.progress.step
            self.set_aside_newer(folder)

    def set_aside_newer(self, folder: Path) -> None:
        """Move checkpoints that come after the resumed one to a folder of their own."""
        newer = [path for path in find_checkpoints(folder) if step_of(path) > self.progress.step]
        if newer and self.accelerator.is_main_process:
            abandoned = folder / f"abandoned_{datetime.now():%Y-%m-%d_%H-%M-%S.%f}"
            abandoned.mkdir()
            for path in newer:
                log(f"{path} comes after the resumed checkpoint: moved to {abandoned}")
                path.rename(abandoned / path.name)

    def load(self, path: Path) -> None:
        """Restore everything as it was saved. Loading never runs code from a checkpoint."""
        with refusing_objects(path):
            saved = torch.load(path / "run.pt", map_location="cpu", weights_only=True)
            compare_settings(self.accelerator, self.config, path, FIXED.union(saved["fixed"]))
            #: region load_state
            self.accelerator.load_state(path)
            #: end load_state
            # load_state() hides errors in this file
            load(path / f"random_states_{self.accelerator.process_index}.pkl")
        for name, state in self.states.items():
            if name in saved["states"]:
                state.load_state_dict(saved["states"][name])
            else:
                log(f"{name} is not in the checkpoint: it starts anew")
        #: slot restored_files
        log(f"resumed from {path} at step {self.progress.step}")


def find_checkpoints(output_dir: Path) -> list[Path]:
    """The checkpoints of a folder, from the oldest to the newest."""
    #: region find
    found = output_dir.glob("checkpoint_*")
    #: end find
    named = [path for path in found if path.name.removeprefix("checkpoint_").isdecimal()]
    #: region order
    return sorted(named, key=step_of)
    #: end order


def step_of(path: Path) -> int:
    return int(path.name.removeprefix("checkpoint_"))


def newest_checkpoint(output_dir: Path) -> Path | str:
    return (find_checkpoints(output_dir) or ["no checkpoint"])[-1]


def find_resumed(config) -> Path | None:
    """The checkpoint of `--resume`: the newest of a folder, or the one that it names."""
    #: slot before_resume
    if not config.resume:
        return None
    #: region resumed
    path = config.output_dir if config.resume == "newest" else Path(config.resume).absolute()
    #: end resumed
    for found in reversed(find_checkpoints(path) or [path]):
        #: region intact
        if (found / "run.pt").exists():
            return found
        #: end intact
    raise SystemExit(f"No complete checkpoint to resume: {path}.")


def find_results(folder: Path) -> list[Path]:
    """The checkpoints and weights in a folder."""
    weights = folder / "best.safetensors", folder / "model.safetensors"
    return [*find_checkpoints(folder), *(path for path in weights if path.exists())]


@contextmanager
def refusing_objects(path: Path) -> Iterator[None]:
    """Exit if a checkpoint holds objects, because loading them could run code."""
    try:
        yield
    except PickleError as error:  # PyTorch's own message suggests running the code
        raise SystemExit(f"{path} holds more than tensors, numbers and text.") from error
