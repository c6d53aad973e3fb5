from collections.abc import Collection

import torch
from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    apply_activation_checkpointing,
)
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.optim import Optimizer

#: slot functions when cpu_ram_efficient_loading=true
def has_device() -> bool:
    """Accelerate 1.15: cpu_ram_efficient_loading takes effect even if the model is not sharded.

    On the CPU, all processes but the first would keep random weights. Delete this when the setting
    is ignored there, and set it to True in train.py.
    """
    device = torch.accelerator.current_accelerator(check_available=True)
    return device is not None and device.type != "mps"

#: slot functions when sync_module_states=true
def has_device() -> bool:
    """Accelerate 1.15: sync_module_states raises an error if there is no device.

    The project could not be tried out on a CPU. Delete this when the setting is ignored there, and
    set it to True in train.py.
    """
    device = torch.accelerator.current_accelerator(check_available=True)
    return device is not None and device.type != "mps"

#: slot functions when version=1 with checkpoints
def create_optimizer_state(model: nn.Module, optimizer: Optimizer) -> None:
    """Accelerate 1.15, FSDP 1: load_state() only fills state that the optimizer already has.

    Before the first step it has none, so a resumed run would start without its averages. Delete
    this when Accelerator.load_state() restores them.
    """
    get_optimizer_state_dict(model, optimizer)

#: slot functions when activation_checkpointing=true version=2
def checkpoint_activations(model: nn.Module, layers: Collection[str]) -> None:
    """Accelerate 1.15, FSDP 2: activation checkpointing draws a new dropout mask in recomputation.

    Gradients would be wrong. Call this before prepare(), with the classes of the layers. Delete it
    when activation_checkpointing=True of the plugin keeps the dropout.
    """
    apply_activation_checkpointing(model, check_fn=lambda layer: type(layer).__name__ in layers)
