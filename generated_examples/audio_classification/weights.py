"""Saves the weights in one file, which accelerator.save_model would split if it is large."""

from contextlib import suppress
from pathlib import Path

from accelerate import Accelerator
from torch import nn


def save_weights(accelerator: Accelerator, model: nn.Module, path: Path) -> None:
    """Save the weights as safetensors. Call it on all processes."""
    weights = accelerator.get_state_dict(accelerator.unwrap_model(model, keep_torch_compile=False))
    accelerator.save(weights, path, safe_serialization=True)
    with suppress(OSError):  # safetensors makes the file private: take the mode of its folder
        path.chmod(path.parent.stat().st_mode & 0o666)
    accelerator.wait_for_everyone()
