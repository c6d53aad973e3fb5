import torch
import train
from helpers import build_exact_model, build_sgd, run
from pathlib import Path
from safetensors.torch import load_file
from unittest import mock

#: slot tests
def first_steps(folder: Path, **limit) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The weights before training, and after one step with a rate of 1, unclipped and clipped."""
    changes = {
        "start": {"learning_rate": 0.0},
        "free": {"learning_rate": 1.0},
        "clipped": {"learning_rate": 1.0, **limit},
    }
    weights = []
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        for name, change in changes.items():
            run(folder / name, epochs=1, max_steps=1, **change)
            tensors = load_file(folder / name / "model.safetensors")
            weights.append(torch.cat([tensor.flatten() for tensor in tensors.values()]))
    return tuple(weights)
