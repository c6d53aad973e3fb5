import torch
from accelerate import PartialState
from torch import nn

from model import Generator

#: slot exact_model
if isinstance(module, Generator):
    module.register_forward_pre_hook(share_noise)

#: slot functions
def share_noise(generator: nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
    """In training, several processes share the noise of one process with a larger batch."""
    (noise,) = inputs
    if generator.training:
        table = torch.randn(64, noise.shape[1], generator=torch.Generator().manual_seed(0))
        first = PartialState().process_index * len(noise)
        noise = table[first : first + len(noise)]
    return (noise,)
