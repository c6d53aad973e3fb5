"""The model, which takes rows of the table in their own units."""

import torch
from torch import Tensor, nn

from data import build_datasets


class Standardize(nn.Module):
    """Values minus the mean, by the standard deviation, both of the values it is made from.

    Both are buffers, which are saved with the weights: new data is treated like the training data.
    """

    def __init__(self, values: Tensor) -> None:
        super().__init__()
        std, mean = torch.std_mean(values, dim=0)
        self.register_buffer("mean", mean)
        self.register_buffer("std", torch.where(std > 0, std, 1))  # of a constant column: 1

    def forward(self, values: Tensor) -> Tensor:
        return (values - self.mean) / self.std


class Mlp(nn.Module):
    """Outputs of shape (batch, outputs) for rows like those of the training data."""

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
    """Predictions of shape (batch,), in the unit of the targets that it is made from."""

    def __init__(self, rows: Tensor, targets: Tensor) -> None:
        super().__init__()
        self.mlp = Mlp(rows, outputs=1)
        self.scale = Standardize(targets)

    def forward(self, rows: Tensor) -> Tensor:
        outputs = self.mlp(rows).squeeze(1).float()  # 16 bits have too few digits for large targets
        return outputs * self.scale.std + self.scale.mean


def build_model(config) -> nn.Module:
    """The model with fresh weights, before it is prepared."""
    return Regressor(*build_datasets(config)[0][:])
