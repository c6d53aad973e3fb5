#: file when project.task=tabular_classification|tabular_regression
"""The model: rows of the table in their original units in, predictions out."""

from torch import Tensor, nn

from data import build_datasets
from lib.standardize import Standardize


#: slot standardize


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


#: slot build_model
