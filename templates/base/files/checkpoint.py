"""Checkpoints that are whole or absent, and what a run must remember to go on unchanged."""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from pickle import PickleError

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from safetensors import SafetensorError
from tqdm import tqdm

# the settings that a checkpoint's batches are counted with
FIXED = [
    "batch_size",
    "seed",
    #: slot fixed
]
#: slot constants


@dataclass
class Progress:
    epoch: int = 0  # epochs finished
    batch: int = 0  # batches of the current epoch that are done, on each process
    update: int = 0  # optimizer steps so far

    def end_epoch(self, batches: int) -> None:
        """Count an epoch of so many batches, unless it was left early."""
        if self.batch == batches:
            self.epoch, self.batch = self.epoch + 1, 0

    def state_dict(self) -> dict:
        return asdict(self)

    def load_state_dict(self, state: dict) -> None:
        vars(self).update(state)


class Checkpoints:
    """Saves and loads a run: weights, optimizer, random numbers, and what is in `states`."""

    def __init__(self, accelerator: Accelerator, config, progress: Progress, **states) -> None:
        self.accelerator, self.config, self.progress = accelerator, config, progress
        self.states = {"progress": progress, **states}
        self.saved, self.saved_at = replace(progress), time.monotonic()
        #: slot checkpoints_setup

    def after_update(self) -> None:
        """Save where the settings ask for it. All processes call it together."""
        every, update = self.config.checkpoint_every, self.progress.update
        if self.config.checkpoint_unit == "updates" and update % every == 0:
            self.save()
        elif self.config.checkpoint_unit == "minutes" and update % self.config.log_every == 0:
            # the main process decides: the clocks of others may say something else
            due = [time.monotonic() - self.saved_at >= 60 * every]
            if broadcast_object_list(due)[0]:
                self.save()
        #: slot checkpoints_after_update

    def after_epoch(self) -> None:
        """Save where the settings ask for it. All processes call it together."""
        unit, epoch = self.config.checkpoint_unit, self.progress.epoch
        if unit == "epochs" and epoch % self.config.checkpoint_every == 0:
            self.save()
        #: slot checkpoints_after_epoch

    def after_training(self) -> None:
        """Save the end of the run. All processes call it together."""
        if self.saved != self.progress:
            self.save()

    def save(self) -> None:
        """Write under a scratch name, flush, rename: a run that is killed leaves nothing partial.

        All processes call it together. Only the newest checkpoints stay.
        """
        folder = self.config.output_dir
        scratch = folder / "checkpoint.partial"
        states = {name: state.state_dict() for name, state in self.states.items()}
        #: slot checkpoints_before_write
        with writing(scratch):
            if self.accelerator.is_main_process:
                shutil.rmtree(scratch, ignore_errors=True)
                scratch.mkdir(parents=True)
            self.accelerator.wait_for_everyone()
            #: region save_state
            self.accelerator.save_state(scratch)
            #: end save_state
            self.accelerator.save(states, scratch / "states.pt")
            self.accelerator.wait_for_everyone()
            if self.accelerator.is_main_process:
                facts = {name: getattr(self.config, name) for name in FIXED}
                facts["processes"] = self.accelerator.num_processes
                #: slot facts
                files = [path for path in scratch.rglob("*") if path.is_file()]
                names = [path.relative_to(scratch).as_posix() for path in files]
                sizes = [path.stat().st_size for path in files]
                facts["files"] = dict(zip(names, sizes, strict=True))
                (scratch / "checkpoint.json").write_text(json.dumps(facts, indent=1))
                for path in [*scratch.rglob("*"), scratch]:
                    flush(path)
                target = folder / f"checkpoint_{self.progress.update:08d}"
                while target.exists():  # saved twice at one update: the later name sorts later
                    target = target.with_name(f"{target.name}+")
                scratch.rename(target)
                flush(folder)
                for old in find_checkpoints(folder)[: -self.config.keep_checkpoints]:
                    shutil.rmtree(old)
        self.accelerator.wait_for_everyone()
        self.saved, self.saved_at = replace(self.progress), time.monotonic()

    #: slot checkpoints_methods

    def resume(self) -> None:
        """Load the checkpoint that `--resume` asks for. Refuses to start over an earlier run."""
        folder, resume = self.config.output_dir, self.config.resume
        with writing(folder):  # better now than after an epoch
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError("no permission")
        found = find_checkpoints(folder)
        #: slot before_resume
        if found and not resume:
            raise SystemExit(f"{folder} holds a run: --resume it, or take another --output-dir.")
        if resume == "newest" and not found:
            raise SystemExit(f"{folder} holds no whole checkpoint to resume from.")
        if resume:
            self.load(found[-1] if resume == "newest" else Path(resume))

    def load(self, path: Path) -> None:
        """Put everything back as it was saved. Nothing in a checkpoint is executed."""
        if not is_whole(path):
            raise SystemExit(f"{path} is no whole checkpoint.")
        facts = json.loads((path / "checkpoint.json").read_text())
        now = {name: getattr(self.config, name) for name in FIXED}
        #: slot facts_now
        for name, value in {**now, "processes": self.accelerator.num_processes}.items():
            if facts.get(name) != value:
                raise SystemExit(
                    f"{path} was saved with {name} {facts.get(name)}, but this run has {value}: "
                    "its batches would be others. Resume with the same, or start a new run."
                )
        try:
            states = torch.load(path / "states.pt", map_location="cpu", weights_only=True)
            torch.seed()
            chance = torch.get_rng_state()
            self.accelerator.load_state(path)
            if torch.equal(torch.get_rng_state(), chance):  # load_state would not say so
                raise ValueError("its random numbers can't be read")
            for name, state in self.states.items():
                if name in states:
                    state.load_state_dict(states[name])
                else:
                    self.accelerator.print(f"{path} has nothing of {name}: that starts afresh")
            for name in states.keys() - self.states.keys():
                self.accelerator.print(f"{path} has {name}, of which this run makes no use")
        except (RuntimeError, ValueError, KeyError, OSError, PickleError, SafetensorError) as error:
            reason = str(error).partition("\n")[0]
            raise SystemExit(f"{path} does not fit this model or optimizer: {reason}") from error
        self.saved = replace(self.progress)
        self.accelerator.wait_for_everyone()
        self.accelerator.print(f"resumed {path} at update {self.progress.update}")


def find_checkpoints(output_dir: Path) -> list[Path]:
    """The whole checkpoints of a run, the oldest first."""
    return sorted(path for path in output_dir.glob("checkpoint_*") if is_whole(path))


def is_whole(path: Path) -> bool:
    """Whether all files are there that were saved, with all their bytes."""
    try:
        files = json.loads((path / "checkpoint.json").read_text())["files"]
        return all((path / name).stat().st_size == size for name, size in files.items())
    except (OSError, ValueError, KeyError, AttributeError):
        return False


def remaining_batches(accelerator: Accelerator, loader, progress: Progress, total: int) -> Iterable:
    """The batches of this epoch of `total` that are still to come, with a progress bar."""
    loader.set_epoch(progress.epoch)  # before any are skipped: it decides their order
    #: slot before_epoch
    batches = accelerator.skip_first_batches(loader, progress.batch) if progress.batch else loader
    #: region limit
    if total < len(loader):
        batches = islice(batches, total - progress.batch)
    #: end limit
    #: slot counted_batches
    return tqdm(
        batches,
        initial=progress.batch,
        total=total,
        leave=False,
        disable=None if accelerator.is_main_process else True,  # None: hidden outside a terminal
    )


def save_weights(accelerator: Accelerator, model, path: Path) -> None:
    """Save the weights alone, as safetensors. All processes call it together."""
    #: region weights
    weights = accelerator.get_state_dict(accelerator.unwrap_model(model))
    #: end weights
    if accelerator.is_main_process:
        scratch = path.with_name(f"{path.name}.partial")
        with writing(path):
            accelerator.save(weights, scratch, safe_serialization=True)
            flush(scratch)
            scratch.rename(path)
            flush(path.parent)
    accelerator.wait_for_everyone()


#: region load_weights when load_weights
def load_weights(accelerator: Accelerator, model, path: Path) -> None:
    """Load what save_weights saved, into the prepared model."""
    ...  #: slot load_weights
    # not strict: weights that two layers share are saved once
    accelerator.unwrap_model(model).load_state_dict(weights, strict=False)


#: end load_weights
#: slot functions


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """End the run with a message if something can't be written, as on a full disk."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        raise SystemExit(
            f"{path} can't be written: {error}. The checkpoints that were saved before are whole."
        ) from error


def flush(path: Path) -> None:
    """Make sure that a file or folder is on the disk itself, not only on its way there."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
