#: file
"""Activation checkpointing: layers save only their input, to save memory."""

from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint


def checkpoint_layers(model: nn.Module) -> None:
    """Let each layer of each ModuleList recompute its activations in the backward pass."""
    for part in model.children():
        if isinstance(part, nn.ModuleList):
            for layer in part:
                layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
        else:
            checkpoint_layers(part)
