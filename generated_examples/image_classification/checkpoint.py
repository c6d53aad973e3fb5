"""Save a run and resume it exactly. A checkpoint is complete or absent, even after a crash."""

import shutil
from datetime import datetime
from pathlib import Path
from pickle import PickleError

import torch
from accelerate.utils import broadcast_object_list, load

from environment import compare_settings, read_settings, write_config
from progress import log

# Settings that a resumed run can't change: they shape the batches or the optimizer's state.
FIXED = {"batch_size", "limit_batches", "processes", "seed", "weight_decay"}


class Checkpoints:
    """Writes a folder for each checkpoint: weights, optimizer, random states, and all `states`."""

    def __init__(self, accelerator, config, progress, states) -> None:
        self.accelerator, self.config, self.progress = accelerator, config, progress
        self.states = {"progress": progress, **states}
        self.saved_step = 0

    def save_if_due(self, unit: str, count: int) -> None:
        """Save after each `checkpoint_every` epochs or steps. Call it on all processes."""
        every = self.config.checkpoint_every
        if every and unit == self.config.checkpoint_unit and count % every == 0:
            self.save()

    def save(self) -> None:
        """Save this step, unless it is saved already. Call it on all processes."""
        if self.saved_step == self.progress.step:
            return
        folder = self.config.output_dir
        scratch = folder / f"checkpoint_{self.progress.step:08d}.partial"
        states = {name: state.state_dict() for name, state in self.states.items()}
        self.accelerator.save_state(scratch)
        self.accelerator.save({"fixed": sorted(FIXED), "states": states}, scratch / "run.pt")
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            if len(list(scratch.glob("random_states_*"))) < self.accelerator.num_processes:
                raise SystemExit(f"{folder} must be on a disk that all processes share.")
            torch.load(scratch / "run.pt", weights_only=True)  # fails now if a state is no data
            write_config(self.accelerator, self.config, scratch)
            scratch.rename(scratch.with_suffix(""))
            for old in find_checkpoints(folder)[: -self.config.keep_checkpoints]:  # [:0] for 0
                shutil.rmtree(old.rename(old.with_suffix(".partial")), ignore_errors=True)
        self.accelerator.wait_for_everyone()
        self.saved_step = self.progress.step

    def resume(self) -> None:
        """Load the checkpoint of `--resume`. Without it, exit if the folder holds a run."""
        folder, path = self.config.output_dir, find_resumed(self.config)
        path = broadcast_object_list([path])[0]  # the choice of the main process
        same_folder = path and path.parent.resolve() == folder.resolve()
        results = [*find_checkpoints(folder), *folder.glob("model.safetensors")]
        settings = map(read_settings, [folder, *find_checkpoints(folder)])
        if results and not same_folder and not all(s.get("limit_batches") for s in settings):
            raise SystemExit(f"{folder} holds a run: --resume it, or use another --output-dir.")
        self.accelerator.wait_for_everyone()  # all have looked before anything is deleted
        if path:
            self.load(path)
        self.saved_step = self.progress.step if same_folder else 0
        if self.accelerator.is_main_process:
            trial = [] if same_folder else results
            for old in [*folder.glob("checkpoint_*.partial"), *trial]:
                old.unlink() if old.is_file() else shutil.rmtree(old, ignore_errors=True)
            abandoned = folder / f"abandoned_{datetime.now():%Y-%m-%d_%H-%M-%S.%f}"
            for newer in find_checkpoints(folder):
                if newer.name > f"checkpoint_{self.progress.step:08d}":
                    log(f"{newer} comes after the resumed checkpoint: moved to {abandoned}")
                    abandoned.mkdir(exist_ok=True)
                    newer.rename(abandoned / newer.name)
        self.accelerator.wait_for_everyone()

    def load(self, path: Path) -> None:
        """Restore everything as it was saved. Loading never runs code from a checkpoint."""
        try:
            saved = torch.load(path / "run.pt", map_location="cpu", weights_only=True)
            compare_settings(self.accelerator, self.config, path, FIXED.union(saved["fixed"]))
            self.accelerator.load_state(path)
            # load_state() hides errors in this file
            load(path / f"random_states_{self.accelerator.process_index}.pkl")
        except PickleError as error:  # PyTorch's own message suggests running the code
            raise SystemExit(f"{path} holds more than tensors, numbers and text.") from error
        for name, state in self.states.items():
            if name in saved["states"]:
                state.load_state_dict(saved["states"][name])
            else:
                log(f"{name} is not in the checkpoint: it starts anew")
        log(f"resumed from {path} at step {self.progress.step}")


def find_checkpoints(output_dir: Path) -> list[Path]:
    """The checkpoints of a folder, from the oldest to the newest."""
    return sorted(output_dir.glob("checkpoint_????????"))


def newest_checkpoint(output_dir: Path) -> Path | None:
    return max(find_checkpoints(output_dir), default=None)


def find_resumed(config) -> Path | None:
    """The checkpoint of `--resume`: the newest of a folder, or the one that it names."""
    if not config.resume:
        return None
    path = config.output_dir if config.resume == "newest" else Path(config.resume).absolute()
    path = newest_checkpoint(path) or path
    if (path / "run.pt").exists():
        return path
    raise SystemExit(f"No complete checkpoint to resume: {path}.")
