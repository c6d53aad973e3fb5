"""The model: scaled values in, the next values out."""

import torch.nn.functional as F
from torch import Tensor, nn


class DLinear(nn.Module):
    """Outputs of shape (batch, outputs) for contexts of shape (batch, context).

    A moving average is the trend. The trend and the rest have one linear layer each.
    https://arxiv.org/abs/2205.13504
    """

    def __init__(self, context: int, outputs: int, average: int) -> None:
        super().__init__()
        self.average = average
        self.trend = nn.Linear(context, outputs)
        self.rest = nn.Linear(context, outputs)

    def forward(self, contexts: Tensor) -> Tensor:
        ends = ((self.average - 1) // 2, self.average // 2)  # repeat the edges to keep the length
        padded = F.pad(contexts[:, None], ends, mode="replicate")
        trend = F.avg_pool1d(padded, self.average, stride=1)[:, 0]
        return self.trend(trend) + self.rest(contexts - trend)


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    model = DLinear(config.context, config.horizon, config.average)
    return model
