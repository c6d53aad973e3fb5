"""Layers that keep their input alone, for the sake of memory."""

from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint


def checkpoint_layers(model: nn.Module) -> None:
    """Let each layer in a list keep its input alone: the backward pass computes the rest again."""
    for part in model.children():
        if isinstance(part, nn.ModuleList):
            for layer in part:
                layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
        else:
            checkpoint_layers(part)
