#: file
"""Save a run and resume it exactly. A checkpoint is complete or absent, even after a kill."""

import shutil
from datetime import datetime
from pathlib import Path
from pickle import PickleError

import torch
from accelerate.utils import broadcast_object_list, load
from environment import compare_settings, read_settings, write_config
from progress import log

# Settings that a resumed run can't change: they decide the batches, or the optimizer saves them.
FIXED = {"batch_size", "limit_batches", "processes", "seed", "weight_decay"}
#: slot fixed


class Checkpoints:
    """Writes a folder for each checkpoint: weights, optimizer, random states, and all `states`."""

    def __init__(self, accelerator, config, progress, states) -> None:
        self.accelerator, self.config, self.progress = accelerator, config, progress
        self.states = {"progress": progress, **states}
        self.saved_step = 0
        #: slot checkpoints_setup

    def save_if_due(self, unit: str, count: int) -> None:
        """Save after each `checkpoint_every` epochs or steps. Call it on all processes."""
        every = self.config.checkpoint_every
        if every and unit == self.config.checkpoint_unit and count % every == 0:
            self.save()
        #: slot checkpoints_if_due

    def save(self) -> None:
        """Save this step, unless it is saved already. Call it on all processes."""
        if self.saved_step == self.progress.step:
            return
        folder = self.config.output_dir
        scratch = folder / f"checkpoint_{self.progress.step:08d}.partial"
        states = {name: state.state_dict() for name, state in self.states.items()}
        #: slot checkpoints_before_write
        #: region save_state
        self.accelerator.save_state(scratch)
        #: end save_state
        self.accelerator.save({"fixed": sorted(FIXED), "states": states}, scratch / "run.pt")
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            #: slot saved_by_all
            torch.load(scratch / "run.pt", weights_only=True)  # check that load() can read it
            write_config(self.accelerator, self.config, scratch)
            #: slot kept_files
            #: slot before_rename
            scratch.rename(scratch.with_suffix(""))
            #: slot after_rename
            keep = self.config.keep_checkpoints
            for old in find_checkpoints(folder)[:-keep] if keep else []:
                shutil.rmtree(old.rename(old.with_suffix(".partial")), ignore_errors=True)
        self.accelerator.wait_for_everyone()
        self.saved_step = self.progress.step
        #: slot checkpoints_saved

    def resume(self) -> None:
        """Load the checkpoint of `--resume`, or start a new run. Only trial runs are replaced."""
        folder, path = self.config.output_dir, find_resumed(self.config)
        path = broadcast_object_list([path])[0]  # the choice of the main process
        same_folder = path and path.parent.resolve() == folder.resolve()
        results = find_checkpoints(folder)
        if not same_folder:
            results += folder.glob("model.safetensors")
            #: slot results
            #: slot found_results
            if results and not is_trial(folder):
                raise SystemExit(f"{folder} holds a run: --resume it, or use another --output-dir.")
        self.accelerator.wait_for_everyone()  # all have looked before anything is moved
        if path:
            self.load(path)
        self.saved_step = self.progress.step if same_folder else 0
        if self.accelerator.is_main_process:
            for unfinished in folder.glob("checkpoint_*.partial"):
                shutil.rmtree(unfinished, ignore_errors=True)
            abandoned = folder / f"abandoned_{datetime.now():%Y-%m-%d_%H-%M-%S.%f}"
            for old in results:
                if not same_folder or old.name > f"checkpoint_{self.progress.step:08d}":  # newer
                    log(f"{old} is not continued: moved to {abandoned}")
                    abandoned.mkdir(exist_ok=True)
                    old.rename(abandoned / old.name)
            #: slot restored_files
        self.accelerator.wait_for_everyone()

    def load(self, path: Path) -> None:
        """Restore what was saved. Loading never runs code from a checkpoint."""
        try:
            saved = torch.load(path / "run.pt", map_location="cpu", weights_only=True)
            compare_settings(self.accelerator, self.config, path, FIXED.union(saved["fixed"]))
            #: region load_state
            self.accelerator.load_state(path)
            #: end load_state
            # load_state() only logs an error in this file: raise it
            load(path / f"random_states_{self.accelerator.process_index}.pkl")
        except PickleError as error:  # PyTorch's own message suggests running the code
            raise SystemExit(f"{path} is damaged, or holds more than plain data.") from error
        for name, state in self.states.items():
            if name in saved["states"]:
                state.load_state_dict(saved["states"][name])
            else:
                log(f"{name} is not in the checkpoint: it starts from scratch")
        log(f"resumed from {path} at step {self.progress.step}")


def is_trial(folder: Path) -> bool:
    """Whether all that a folder holds is from runs with `--limit-batches`."""
    return all(read_settings(f).get("limit_batches") for f in (folder, *find_checkpoints(folder)))


def find_checkpoints(output_dir: Path) -> list[Path]:
    """The checkpoints of a folder, from the oldest to the newest."""
    #: region find
    return sorted(output_dir.glob("checkpoint_" + "[0-9]" * 8))
    #: end find


def newest_checkpoint(output_dir: Path) -> Path | None:
    return max(find_checkpoints(output_dir), default=None)


def find_resumed(config) -> Path | None:
    """The checkpoint of `--resume`: the newest of a folder, or the one that it names."""
    #: slot before_resume
    if not config.resume:
        return None
    #: region resumed
    path = config.output_dir if config.resume == "newest" else Path(config.resume).absolute()
    #: end resumed
    #: region intact
    path = newest_checkpoint(path) or path
    if (path / "run.pt").exists():
        return path
    #: end intact
    raise SystemExit(f"No complete checkpoint to resume: {path}.")
#: end file

import time

#: slot fixed with balanced_sampling
FIXED |= {"data_order"}

#: slot fixed with own_sampler
FIXED |= {"data_order"}

#: slot checkpoints_setup when checkpoint_unit=minutes
self.saved_at = time.monotonic()

#: slot checkpoints_if_due when checkpoint_unit=minutes
timed = every and (unit, self.config.checkpoint_unit) == ("steps", "minutes")
if timed and count % (self.config.log_every or 1) == 0:
    due = time.monotonic() - self.saved_at >= 60 * every
    if broadcast_object_list([due])[0]:  # the main process decides, because clocks differ
        self.save()

#: slot checkpoints_saved when checkpoint_unit=minutes
self.saved_at = time.monotonic()
