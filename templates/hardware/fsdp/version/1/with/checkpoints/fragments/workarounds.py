from torch import nn
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.optim import Optimizer

#: slot functions
def create_optimizer_state(model: nn.Module, optimizer: Optimizer) -> None:
    """Accelerate 1.15, FSDP 1: load_state() only fills state that the optimizer already has.

    Before the first step it has none, so a resumed run would start without its averages. Delete
    this when Accelerator.load_state() restores them.
    """
    get_optimizer_state_dict(model, optimizer)
