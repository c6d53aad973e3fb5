from unittest import mock

import torch
import train
from model import Generator
from safetensors.torch import load_file
from torch import nn

#: slot tests
def first_steps(folder: Path, **limit) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The generator's weights before training, and one step of size 1 away: free, and limited."""
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
    """The discriminator stays as it is: the generator's gradient would depend on its step."""
    optimizer = build_sgd(model, config)
    if not isinstance(model, Generator):
        optimizer.step = lambda closure=None: None
    return optimizer
