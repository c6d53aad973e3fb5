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
        # a higher quantile can't be below a lower one
        return self.model(contexts).unflatten(1, (self.horizon, -1)).sort(dim=2).values

#: slot result
return Quantiles(model, config.horizon)
