import torch
import torch.nn.functional as F

#: slot quantiles
# from low to high: the ends of the interval, and the median between them
QUANTILES = [{{ ((1 - forecasting.interval) / 2) | round(4) }}, 0.5, {{ ((1 + forecasting.interval) / 2) | round(4) }}]

#: slot model
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

#: slot result
return Quantiles(model, config.horizon)
