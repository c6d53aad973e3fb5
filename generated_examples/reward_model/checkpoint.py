"""Save a run and resume it exactly. A checkpoint is complete or absent, even after a kill."""

import atexit
import json
import platform
import shutil
from hashlib import file_digest
from pathlib import Path
from pickle import PickleError

import psutil
import torch

from config import find_checkpoints, find_resumed, list_settings, read_settings, write_config
from metrics import log

# The settings that a resumed run can't change, and why.
FIXED = {
    "batch_size": "it decides the batches",
    "learning_rate": "the optimizer saves it",
    "limit_batches": "it decides the batches",
    "precision": "fp16 needs the saved scale of its gradients",
    "processes": "each has its own part of the data",
    "seed": "it decides the order of the data",
    "weight_decay": "the optimizer saves it",
    "context": "it decides the batches",
}


class Checkpoints:
    """Writes a folder for each checkpoint: weights, optimizer, random states, and all `states`."""

    def __init__(self, accelerator, config, progress, states) -> None:
        self.accelerator, self.config, self.progress = accelerator, config, progress
        self.states = {"progress": progress, **states}
        self.saved_step = 0

    def save(self) -> None:
        """Save this step, unless it is saved already. Call it on all processes."""
        if self.saved_step == self.progress.step:
            return
        folder = self.config.output_dir / f"checkpoint_{self.progress.step:08d}"
        scratch = folder.with_suffix(".partial")
        states = {name: state.state_dict() for name, state in self.states.items()}
        self.accelerator.save_state(scratch)
        self.accelerator.save(states, scratch / "loop.pt")
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            write_config(self.accelerator, self.config, scratch)
            for file in scratch.glob("*.safetensors"):  # safetensors makes them private
                file.chmod(scratch.stat().st_mode & 0o666)
            (scratch / "digests.json").write_text(json.dumps(compute_digests(scratch)))
            scratch.rename(folder)
            remove_old(folder.parent, self.config.keep_checkpoints)
        self.accelerator.wait_for_everyone()
        self.saved_step = self.progress.step

    def resume(self) -> None:
        """Load the checkpoint of `--resume`, if any. A new run never writes over another one."""
        folder = self.config.output_dir
        path = find_resumed(self.config.resume, folder) if self.config.resume else None
        same_folder = path is not None and path.parent.resolve() == folder.resolve()
        if self.accelerator.is_main_process:
            lock(folder)
            others = find_checkpoints(folder)
            if same_folder:
                others = [other for other in others if other.name > path.name]  # newer ones
            else:
                others += folder.glob("*.safetensors")
            if others:
                raise SystemExit(f"{folder} has {others[0].name}: choose another --output-dir.")
            for unfinished in folder.glob("checkpoint_*.partial"):
                shutil.rmtree(unfinished, ignore_errors=True)
        self.accelerator.wait_for_everyone()
        if path:
            self.load(path)
        self.saved_step = self.progress.step if same_folder else 0

    def load(self, path: Path) -> None:
        """Restore what was saved. Loading never runs code from a checkpoint."""
        check_digests(path)
        try:
            saved = torch.load(path / "loop.pt", map_location="cpu", weights_only=True)
            settings = list_settings(self.accelerator, self.config)
            compare_settings(read_settings(path), settings)
            self.accelerator.load_state(path)
        except PickleError as error:  # PyTorch's own message suggests running the code
            raise SystemExit(f"{path} contains more than tensors and plain values.") from error
        except RuntimeError as error:  # such as layers of other sizes
            raise SystemExit(f"{path} can't be loaded: {error}") from error
        for name, state in self.states.items():
            if name in saved:
                state.load_state_dict(saved[name])
            else:
                log(f"{name} is not in the checkpoint: it starts from scratch")
        log(f"resumed from {path} at step {self.progress.step}")


def compare_settings(saved: dict, settings: dict) -> None:
    """Log the settings that differ from those of a checkpoint. Exit if a fixed one differs."""
    for name in settings | saved:
        old, new = saved.get(name), settings.get(name)
        if name in ("output_dir", "resume") or str(new) == str(old):  # paths are saved as text
            continue
        if name in FIXED:
            reason = f"{name} was {old}, not {new}, and can't change: {FIXED[name]}"
            raise SystemExit(f"{reason}. Use the same value, or start a new run.")
        log(f"{name} is {new}, and was {old} when the checkpoint was saved")


def compute_digests(folder: Path) -> dict[str, str]:
    """The SHA-256 digest of each file."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "digests.json":
            with path.open("rb") as file:
                digests[str(path.relative_to(folder))] = file_digest(file, "sha256").hexdigest()
    return digests


def check_digests(folder: Path) -> None:
    """Exit if a file of a checkpoint is not as it was saved. Other files may be beside them."""
    try:
        saved = json.loads((folder / "digests.json").read_text())
        damaged = not saved.items() <= compute_digests(folder).items()
    except (OSError, ValueError, AttributeError):
        damaged = True
    if damaged:
        raise SystemExit(f"{folder} is damaged: resume an earlier checkpoint.")


def remove_old(folder: Path, keep: int) -> None:
    """Remove all but the newest checkpoints. 0 keeps all."""
    if keep:
        for old in find_checkpoints(folder)[:-keep]:
            partial = old.rename(old.with_suffix(".partial"))  # half removed, it is no checkpoint
            shutil.rmtree(partial, ignore_errors=True)


def lock(folder: Path) -> None:
    """Exit if another process trains in this folder. The lock of a process that died is ignored."""
    path, this = folder / "run.lock", psutil.Process()
    owner = path.read_text().split() if path.exists() else []
    if owner:  # a kill may leave an empty file
        host, pid, start = owner
        # a number is used again after a process died, with another start time
        others = [other for other in psutil.process_iter(["create_time"]) if other != this]
        running = [(str(other.pid), str(other.info["create_time"])) for other in others]
        if host != platform.node() or (pid, start) in running:
            raise SystemExit(
                f"Process {pid} on {host} is training in {folder}. If it has ended, delete {path}."
            )
    path.write_text(f"{platform.node()} {this.pid} {this.create_time()}")
    atexit.register(path.unlink, missing_ok=True)
