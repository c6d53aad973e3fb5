from math import nan

import torch
from torch import Tensor

from model import QUANTILES

#: slot classes
#: region count_errors
def count_errors(forecasts: Tensor, targets: Tensor, scales: Tensor) -> Tensor:
    """The sums that the metrics are computed from, for each window, shape (batch, 4).

    The absolute errors in the unit of the series, and the number of known targets. The same errors
    divided by the naive error of the series, and their number: a series whose naive error is 0 has
    no scaled errors.
    """
    known = targets.isfinite()
    errors = (forecasts - targets.where(known, forecasts)).abs().sum(dim=1)
    return sum_errors(errors, known.sum(dim=1), scales)


#: end count_errors
def sum_errors(errors: Tensor, known: Tensor, scales: Tensor) -> Tensor:
    """Sums of absolute errors, in standard deviations, as count_errors() returns them."""
    _, std, naive = scales.unbind(dim=1)
    errors, has_naive = errors * std, naive > 0
    scaled = errors / naive.where(has_naive, 1) * has_naive
    return torch.stack([errors, known, scaled, known * has_naive], dim=1)


#: region forecast_scores
def forecast_scores(counts: Tensor) -> dict[str, float]:
    """MAE and MASE from counts summed over windows, shape (4,).

    MASE is the mean of the scaled errors: Hyndman and Koehler 2006,
    https://doi.org/10.1016/j.ijforecast.2006.03.001
    """
    errors, known, scaled, with_naive = counts.tolist()
    return {"mae": errors / known, "mase": scaled / with_naive if with_naive else nan}


#: end forecast_scores

#: replace count_errors when loss=quantiles
def count_errors(forecasts: Tensor, targets: Tensor, scales: Tensor) -> Tensor:
    """The sums that the metrics are computed from, for each window, shape (batch, 5).

    The absolute errors of the median in the unit of the series, and the number of known targets.
    The same errors divided by the naive error of the series, and their number: a series whose naive
    error is 0 has no scaled errors. The number of known targets inside the interval.
    """
    known, median = targets.isfinite(), forecasts[:, :, QUANTILES.index(0.5)]
    errors = (median - targets.where(known, median)).abs().sum(dim=1)
    inside = (forecasts[:, :, 0] <= targets) & (targets <= forecasts[:, :, -1])
    sums = sum_errors(errors, known.sum(dim=1), scales)
    return torch.cat([sums, inside.sum(dim=1, keepdim=True)], dim=1)

#: replace forecast_scores when loss=quantiles
def forecast_scores(counts: Tensor) -> dict[str, float]:
    """MAE, MASE and coverage from counts summed over windows, shape (5,).

    MASE is the mean of the scaled errors: Hyndman and Koehler 2006,
    https://doi.org/10.1016/j.ijforecast.2006.03.001. The coverage is the share of the targets that
    are inside the interval.
    """
    errors, known, scaled, with_naive, inside = counts.tolist()
    mase = scaled / with_naive if with_naive else nan
    return {"mae": errors / known, "mase": mase, "coverage": inside / known}
