"""Files that are complete or absent, even after a crash."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from accelerate import Accelerator
from safetensors import SafetensorError
from torch import nn


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Exit with one line if a file can't be written, for example to a full or read-only disk."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise SystemExit(f"Can't write {path}: {error}. Earlier files are intact.") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a scratch file, and replace `path` with it at the end."""
    scratch = path.with_name(f"{path.name}.partial")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        yield scratch
        flush(scratch)
        scratch.replace(path)


def flush(path: Path) -> None:
    """Wait until a file or folder is on the disk. A file gets the permissions of its folder."""
    if path.is_file():
        with suppress(OSError):  # safetensors lets only the owner read; some disks can't chmod
            path.chmod(path.parent.stat().st_mode & 0o666)
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def save_weights(accelerator: Accelerator, model: nn.Module, path: Path) -> None:
    """Save the weights as safetensors. Call it on all processes."""
    #: region weights
    weights = accelerator.get_state_dict(accelerator.unwrap_model(model, keep_torch_compile=False))
    #: end weights
    #: slot chosen_weights
    if accelerator.is_main_process:
        with replacing(path) as scratch:
            accelerator.save(weights, scratch, safe_serialization=True)
    accelerator.wait_for_everyone()


#: slot functions
