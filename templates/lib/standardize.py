#: into model.py at standardize
"""The model: inputs and outputs in their original units."""

import torch
from torch import Tensor, nn


class Standardize(nn.Module):
    """Subtracts the mean and divides by the standard deviation of the training data.

    Both are buffers, saved with the weights, so that new data is scaled in the same way.
    """

    def __init__(self, values: Tensor) -> None:
        super().__init__()
        std, mean = torch.std_mean(values, dim=0)
        self.register_buffer("mean", mean)
        self.register_buffer("std", torch.where(std > 0, std, 1))  # 1 for a constant column

    def forward(self, values: Tensor) -> Tensor:
        return (values - self.mean) / self.std
