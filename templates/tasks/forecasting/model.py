#: file
"""The model: scaled values in, the next values out."""

from torch import Tensor, nn

#: slot quantiles


#: slot model


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
    ...  #: slot result
#: end file

from math import ceil

import torch
import torch.nn.functional as F

#: slot model when model=linear
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

#: slot build_model when model=linear
model = DLinear(
    config.context,
    #: region outputs
    config.horizon,
    #: end outputs
    config.average
)

#: slot model when model=lstm
class Lstm(nn.Module):
    """Outputs of shape (batch, outputs) for contexts of shape (batch, context).

    It sees, and returns, differences to the last value, so the level of a series does not matter.
    """

    def __init__(self, outputs: int, width: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, width, layers, batch_first=True)
        self.head = nn.Linear(width, outputs)

    def forward(self, contexts: Tensor) -> Tensor:
        last = contexts[:, -1:]
        states, _ = self.lstm((contexts - last)[:, :, None])
        return last + self.head(states[:, -1])

#: slot build_model when model=lstm
model = Lstm(
    #: region outputs
    config.horizon,
    #: end outputs
    config.width,
    config.layers
)

#: slot model when model=transformer
class Transformer(nn.Module):
    """Outputs of shape (batch, outputs) for contexts of shape (batch, context).

    Patches of a context are the tokens: https://arxiv.org/abs/2211.14730. It sees, and returns,
    differences to the last value, so the level of a series does not matter.
    """

    def __init__(
        self, context: int, outputs: int, patch: int, width: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        count = ceil(context / patch)
        self.patch, self.padding = patch, count * patch - context
        self.embedding = nn.Linear(patch, width)
        self.positions = nn.Parameter(torch.randn(count, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, nhead=4, dim_feedforward=4 * width, dropout=dropout, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(count * width, outputs)

    def forward(self, contexts: Tensor) -> Tensor:
        last = contexts[:, -1:]
        padded = F.pad((contexts - last)[:, None], (self.padding, 0), mode="replicate")[:, 0]
        tokens = self.embedding(padded.unflatten(1, (-1, self.patch))) + self.positions
        return last + self.head(self.layers(tokens).flatten(1))

#: slot build_model when model=transformer
if config.width % 4:
    raise SystemExit(f"--width {config.width}: use a multiple of 4, the number of heads.")
model = Transformer(
    config.context,
    #: region outputs
    config.horizon,
    #: end outputs
    config.patch,
    config.width,
    config.layers,
    config.dropout,
)

#: slot result when loss=mae
return model

#: slot quantiles when loss=quantiles
# from low to high: the ends of the interval, and the median between them
QUANTILES = [{{ ((1 - forecasting.interval) / 2) | round(4) }}, 0.5, {{ ((1 + forecasting.interval) / 2) | round(4) }}]

#: slot model when loss=quantiles
class Quantiles(nn.Module):
    """Quantiles of shape (batch, horizon, len(QUANTILES)), from low to high."""

    def __init__(self, model: nn.Module, horizon: int) -> None:
        super().__init__()
        self.model, self.horizon = model, horizon

    def forward(self, contexts: Tensor) -> Tensor:
        # each output keeps its quantile: if they were sorted, they would swap and never learn it
        outputs = self.model(contexts).unflatten(1, (self.horizon, -1))
        median, below, above = outputs.unbind(dim=2)
        low, high = median - F.softplus(below), median + F.softplus(above)
        return torch.stack([low, median, high], dim=2)

#: replace outputs when loss=quantiles
config.horizon * len(QUANTILES),

#: slot result when loss=quantiles
return Quantiles(model, config.horizon)
