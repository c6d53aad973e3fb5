from itertools import pairwise
from math import isnan
from unittest import mock

import gradio as gr
import numpy as np
import pandas as pd
import pytest
import torch

import predict
import train
from data import Windows, build_datasets, find_borders, fit_scales, read_series
from helpers import SETTINGS, run
from metrics import count_errors, forecast_scores
from model import QUANTILES, build_model
from scales import Scales

#: into tests/test_app.py
#: slot values
with pytest.raises(gr.Error, match="Choose a file first"):
    page.fn(None)
history = read_series(config).iloc[0].dropna()
rows = pd.DataFrame({"time": history.index, "value": history.to_numpy(), "series": "a"})
values = ["histories.csv"]

#: wrap shown
with mock.patch.object(predict, "read_table", lambda *_: rows):
    ...  #: body

#: slot expected
assert len(shown) == config.horizon and shown["forecast"].notna().all()

#: into tests/test_features.py
#: slot tests
def test_targets_stay_in_their_part_and_contexts_are_in_the_past():
    """Each part has its own steps as targets. What a window sees ends where its targets begin."""
    config = train.Config(**SETTINGS)
    table = read_series(config)
    borders = [0, *find_borders(table.columns, config), table.shape[1]]
    steps = np.arange(table.shape[1], dtype=float)[None].repeat(2, axis=0)
    scales = Scales("1", 1, {"a": [0.0, 1.0, 1.0], "b": [0.0, 1.0, 1.0]})
    for part, (first, last) in zip(build_datasets(config), pairwise(borders), strict=True):
        assert part.starts[:, 1].min() >= first
        assert part.starts[:, 1].max() + config.horizon <= last
        # values that are their own step show where each came from
        windows = Windows(steps, scales, first, last, config)
        for context, targets, _ in (windows[0], windows[len(windows) - 1]):
            assert targets.min() >= first and targets.max() < last
            both = torch.cat([context, targets])
            assert both.tolist() == [both[0] + step for step in range(len(both))]


def test_a_leak_of_the_future_into_the_scales_is_seen():
    """Values after the training part change neither the scales nor the training windows."""
    config = train.Config(**SETTINGS)
    table, scales = read_series(config), fit_scales(config)
    val_start, test_start = find_borders(table.columns, config)
    changed = table.copy()
    changed.iloc[:, val_start:] = 7 * changed.iloc[:, val_start:] + 100

    def fit(values, end):
        return Scales.fit(values.iloc[:, :end], config.season, scales.step)

    assert fit(changed, val_start) == scales == fit(table, val_start)
    assert fit(changed, test_start) != fit(table, test_start), "this leak would be seen"
    before, after = (
        Windows(values.to_numpy(), scales, 0, val_start, config) for values in (table, changed)
    )
    assert len(before) == len(after)
    for row in (0, len(before) - 1):
        torch.testing.assert_close(before[row], after[row], rtol=0, atol=0, equal_nan=True)


def test_the_scales_are_saved_with_the_weights(tmp_path):
    run(tmp_path, epochs=1, max_steps=1)
    assert Scales.load(tmp_path) == fit_scales(train.Config(**SETTINGS))


def test_a_gap_is_filled_from_the_past_and_ignored_as_a_target():
    """The model sees the last known value. As a target, a gap has no error and no gradient."""
    config = train.Config(**SETTINGS)
    size = config.context + config.horizon
    values = np.arange(size, dtype=float)[None].copy()
    values[0, [1, config.context]] = np.nan
    windows = Windows(values, Scales("1", 1, {"a": [0.0, 1.0, 2.0]}), 0, size, config)
    [(context, targets, scale)] = windows
    assert context[:2].tolist() == [0, 0] and targets[0].isnan()
    forecasts = example_forecasts(targets[None].nan_to_num()).requires_grad_()
    losses = train.compute_loss(forecasts, targets[None])
    losses.sum().backward()
    assert torch.isfinite(losses).all() and torch.isfinite(forecasts.grad).all()
    assert (forecasts.grad[0, 0] == 0).all()
    errors = count_errors(forecasts, targets[None], scale[None])[0]
    assert errors[1] == errors[3] == config.horizon - 1, "known targets"


def test_metrics_are_those_of_all_values():
    """Two windows of two series, counted by hand: 3 and 2 known targets."""
    targets = torch.tensor([[1.0, 2.0, 3.0], [0.0, float("nan"), 1.0]])
    forecasts = example_forecasts(torch.tensor([[2.0, 2.0, 1.0], [1.0, 5.0, 1.0]]))
    scales = torch.tensor([[9.0, 2.0, 4.0], [9.0, 10.0, 5.0]])
    counts = count_errors(forecasts, targets, scales).sum(dim=0)
    scores = forecast_scores(counts)
    # in units: (2 + 0 + 4), and (10 + 0); the naive errors are 4 and 5
    assert scores["mae"] == pytest.approx((6 + 10) / 5)
    assert scores["mase"] == pytest.approx((6 / 4 + 10 / 5) / 5)
    constant = count_errors(forecasts, targets, scales.index_fill(1, torch.tensor(2), 0))
    assert isnan(forecast_scores(constant.sum(dim=0))["mase"]), "no naive error to compare with"


def test_pictures_are_drawn(tmp_path):
    run(tmp_path, epochs=1, max_steps=1)
    [path] = tmp_path.glob("forecasts_*.png")
    assert path.read_bytes().startswith(b"\x89PNG")

#: slot tests when loss=mae
def example_forecasts(values):
    """Forecasts of these values, as the model returns them."""
    return values

#: slot tests when loss=quantiles
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

#: into tests/test_predict.py
#: slot functions
def to_histories(contexts, scales) -> list[dict]:
    """Contexts of windows as predict.py reads them from a file."""
    return [
        {
            "series": f"{row}",
            "start": "0",
            "format": "",
            "mean": mean,
            "std": std,
            "context": context,
        }
        for row, (context, (mean, std, _)) in enumerate(zip(contexts, scales.tolist(), strict=True))
    ]

#: slot metric
contexts, targets, scales = map(torch.cat, zip(*read_batches(config), strict=True))
rows = predict.predict(config, model, to_histories(contexts, scales))
forecasts = torch.tensor([row["forecast"] for row in rows])
errors = (forecasts - (scales[:, :1] + scales[:, 1:2] * targets)).abs()
assert float(errors.nanmean()) == pytest.approx(reported["test_mae"], rel=1e-5)

#: slot five
contexts, _, scales = next(iter(build_loaders(config)[2]))
rows = predict.predict(config, model, to_histories(contexts, scales)[:5])
