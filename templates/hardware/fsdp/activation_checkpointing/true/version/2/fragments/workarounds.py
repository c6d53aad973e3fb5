from collections.abc import Collection

from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    apply_activation_checkpointing,
)

#: slot functions
def checkpoint_activations(model: nn.Module, layers: Collection[str]) -> None:
    """Accelerate 1.15, FSDP 2: activation checkpointing draws a new dropout mask in recomputation.

    Gradients would be wrong. Call this before prepare(), with the classes of the layers. Delete it
    when activation_checkpointing=True of the plugin keeps the dropout.
    """
    apply_activation_checkpointing(model, check_fn=lambda layer: type(layer).__name__ in layers)
