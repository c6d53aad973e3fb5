"""The features of this project."""

import json
from itertools import pairwise
from math import isnan
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from safetensors.torch import load_file

import train
from callbacks import LearningCurves
from data import Windows, build_datasets, find_borders, fit_scales, read_series
from helpers import SETTINGS, build_exact_model, build_sgd, run
from metrics import count_errors, forecast_scores
from scales import Scales
from test_resume import last_checkpoint


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


def example_forecasts(values):
    """Forecasts of these values, as the model returns them."""
    return values


def weights_after(folder: Path, rate: float, **limit) -> torch.Tensor:
    """The weights after one step of `rate` times the gradient."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(folder, epochs=1, max_steps=1, learning_rate=rate, **limit)
    tensors = load_file(folder / "model.safetensors")
    return torch.cat([tensor.flatten() for tensor in tensors.values()])


def test_clips_the_gradient_of_the_whole_step(tmp_path):
    """A clipped step has the direction of the unclipped step, scaled down to the limit."""
    start = weights_after(tmp_path / "start", 1e-12)
    gradient = weights_after(tmp_path / "free", 1.0) - start
    norm = float(gradient.norm())
    limit = min(0.01, norm / 2)
    clipped = weights_after(tmp_path / "clipped", 1.0, max_grad_norm=limit)
    expected = start + gradient * limit / norm
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)


def test_metrics_file_has_each_log_line(tmp_path):
    run(tmp_path, epochs=1)
    lines = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    found = [(line["step"], "lr" in line) for line in lines if "loss" in line]
    assert found == [(step, True) for step in range(1, 7)]


def test_metrics_of_a_run_resumed_in_another_folder(tmp_path):
    first = last_checkpoint(run(tmp_path / "one", epochs=1))
    run(tmp_path / "two", epochs=2, resume=str(first))
    lines = (tmp_path / "one" / "metrics.jsonl").read_text().splitlines()[:-1]  # but the test's
    resumed = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    assert resumed[: len(lines)] == lines and len(resumed) > len(lines) + 1
    steps = [json.loads(line)["step"] for line in resumed]
    assert steps == sorted(steps)


def test_learning_curves_show_all_metrics(tmp_path, monkeypatch):
    """Each metric has a panel, with a curve in its own color for each set."""
    source, target = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    lines = [
        {"step": 2, "loss": 2.5, "lr": 0.1},
        {"step": 4, "train_loss": 2.0, "val_loss": 3.0, "val_exact_match": 0.1},
        {"step": 8, "train_loss": 1.0, "val_loss": 2.0, "val_exact_match": 0.2},
        {"step": 8, "test_loss": 2.5},
    ]
    source.write_text("\n".join(map(json.dumps, lines)))
    drawn, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda fig, path: [drawn.append(fig), save(fig, path)])
    LearningCurves(source, target).draw()
    found = {
        axes.get_ylabel(): {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
        for axes in drawn[0].axes
    }
    assert found == {
        "loss": {
            "loss": [[2, 2.5]],
            "train_loss": [[4, 2.0], [8, 1.0]],
            "val_loss": [[4, 3.0], [8, 2.0]],
            "test_loss": [[8, 2.5]],
        },
        "exact_match": {"val_exact_match": [[4, 0.1], [8, 0.2]]},
        "lr": {"lr": [[2, 0.1]]},
    }
    colors = {(line.get_label()[:3], line.get_color()) for ax in drawn[0].axes for line in ax.lines}
    assert {("tra", "C0"), ("val", "C1"), ("tes", "C2")} < colors
    assert len(colors) == 5, "one color for each set, and gray for the values of steps"
    assert target.read_bytes().startswith(b"\x89PNG")


def test_learning_curves_are_drawn(tmp_path):
    run(tmp_path, epochs=1)
    assert (tmp_path / "curves.png").exists()


def test_a_run_survives_curves_that_cannot_be_drawn(tmp_path, monkeypatch, capsys):
    def fail(*_) -> None:
        raise ValueError("no canvas")

    monkeypatch.setattr(Figure, "savefig", fail)
    run(tmp_path, epochs=1)
    assert "was not drawn: ValueError('no canvas')" in capsys.readouterr().out
    assert (tmp_path / "model.safetensors").exists()


def scheduled_rates(steps: int, **changes) -> list[float]:
    """The learning rate of each step of a run, as a fraction of the full rate."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(()))], lr=1.0)
    schedule, rates = train.build_schedule(optimizer, steps, train.Config(**changes)), []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return rates


def test_each_step_has_its_learning_rate(tmp_path, monkeypatch):
    build, found = train.build_optimizer, []

    def build_and_note(model, config):
        optimizer, rates = build(model, config), []
        found.append(rates)

        def note(optimizer, *_) -> None:
            rates.extend(group["lr"] / group["initial_lr"] for group in optimizer.param_groups[:1])

        optimizer.register_step_pre_hook(note)
        return optimizer

    monkeypatch.setattr(train, "build_optimizer", build_and_note)
    run(tmp_path)
    assert found, "nothing was tested"
    for rates in found:
        assert rates == pytest.approx(scheduled_rates(12)), "step the schedule once for each step"


def test_groups_keep_their_own_rates():
    """A group with half the learning rate keeps half the rate at every step."""
    weights = [torch.nn.Parameter(torch.zeros(())) for _ in range(2)]
    groups = [{"params": [weight], "lr": lr} for weight, lr in zip(weights, (1, 0.5), strict=True)]
    optimizer = torch.optim.SGD(groups)
    schedule = train.build_schedule(optimizer, 100, train.Config())
    for _ in range(20):
        optimizer.step()
        schedule.step()
    one, other = [group["lr"] for group in optimizer.param_groups]
    assert one > 0 and other == pytest.approx(one / 2)


def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the full rate"
    assert rates[-1] < 0.02 * max(rates), "half a cosine ends near zero"
