import torch
import train
from helpers import build_exact_model, build_sgd, run
from model import Generator
from pathlib import Path
from safetensors.torch import load_file
from torch import nn
from unittest import mock

#: slot tests
def first_steps(folder: Path, **limit) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The generator before training, and one step of size 1 away, without and with a limit."""
    changes = {
        "start": {"learning_rate": 0.0},
        "free": {"learning_rate": 1.0},
        "clipped": {"learning_rate": 1.0, **limit},
    }
    weights = []
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_step):
        for name, change in changes.items():
            run(folder / name, epochs=1, max_steps=1, **change)
            tensors = load_file(folder / name / "model.safetensors")
            weights.append(torch.cat([tensor.flatten() for tensor in tensors.values()]))
    return tuple(weights)


def build_step(model: nn.Module, config: train.Config) -> torch.optim.Optimizer:
    """SGD that only steps the generator: its gradient depends on the discriminator's steps."""
    optimizer = build_sgd(model, config)
    if not isinstance(model, Generator):
        optimizer.step = lambda closure=None: None
    return optimizer
