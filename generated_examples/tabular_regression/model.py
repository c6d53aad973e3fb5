"""The model: rows of the table in their original units in, predictions out."""

import torch
from torch import Tensor, nn

from data import build_datasets


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


class Mlp(nn.Module):
    """Outputs of shape (batch, outputs) for rows of shape (batch, columns)."""

    def __init__(self, rows: Tensor, outputs: int, width: int = 64, dropout: float = 0.2) -> None:
        super().__init__()
        self.standardize = Standardize(rows)
        self.layers = nn.Sequential(
            nn.Linear(rows.shape[1], width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(dropout),
        )
        self.head = nn.Linear(width, outputs)

    def forward(self, rows: Tensor) -> Tensor:
        return self.head(self.layers(self.standardize(rows)))


class Regressor(nn.Module):
    """Predictions of shape (batch,) in the unit of the targets."""

    def __init__(self, rows: Tensor, targets: Tensor) -> None:
        super().__init__()
        self.mlp = Mlp(rows, outputs=1)
        self.scale = Standardize(targets)

    def forward(self, rows: Tensor) -> Tensor:
        # mixed precision has too few digits for large targets
        outputs = self.mlp(rows).squeeze(1).float()
        return outputs * self.scale.std + self.scale.mean


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    return Regressor(*build_datasets(config)[0][:])
