import torch
import train
from model import QUANTILES, build_model
from metrics import count_errors, forecast_scores
from helpers import SETTINGS

#: slot tests
def example_forecasts(values):
    """Forecasts of these values, as the model returns them: with an interval of -0.5 to 0.5."""
    return torch.stack([values - 0.5, values, values + 0.5], dim=2)


def test_quantiles_have_the_smallest_loss_where_they_belong():
    """Of 1001 even targets from 0 to 1, each quantile is best at its own level."""
    levels = torch.linspace(0, 1, 1001)
    for place, level in enumerate(QUANTILES):
        forecasts = levels[None, :, None].expand(1, 1001, len(QUANTILES)).clone()
        losses = []
        for guess in (level - 0.02, level, level + 0.02):
            guessed = forecasts.index_fill(2, torch.tensor(place), guess)
            losses.append(float(train.compute_loss(guessed, levels[None])))
        assert min(losses) == losses[1]


def test_coverage_is_the_share_inside_the_interval():
    targets = torch.tensor([[0.0, 0.4, 0.6, float("nan")]])
    counts = count_errors(example_forecasts(torch.zeros(1, 4)), targets, torch.ones(1, 3))
    assert abs(forecast_scores(counts.sum(dim=0))["coverage"] - 2 / 3) < 1e-6


def test_quantiles_do_not_cross():
    config = train.Config(**SETTINGS)
    forecasts = build_model(config)(torch.randn(8, config.context))
    assert forecasts.shape == (8, config.horizon, len(QUANTILES))
    assert (forecasts.diff(dim=2) >= 0).all()
