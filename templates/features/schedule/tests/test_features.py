from unittest import mock

import pytest
import torch

import train
from helpers import SETTINGS, column, run

#: slot tests
def scheduled_rates(steps: int, total: int = 0, **changes) -> list[float]:
    """The learning rate of each step of a run that peaks at 1."""
    config = train.Config(**changes)
    return [train.learning_rate_at(step, total or steps, 1.0, config) for step in range(steps)]


def test_each_step_has_its_learning_rate(tmp_path, capsys):
    run(tmp_path)
    config = train.Config(**SETTINGS)
    rates = [train.learning_rate_at(step, 12, config.learning_rate, config) for step in range(12)]
    found = [float(rate) for rate in column(capsys.readouterr().out, "lr")]
    assert found == pytest.approx(rates, rel=1e-3), "set the rate before each step"


def test_schedule_does_not_rise_after_its_end():
    rates = scheduled_rates(150, total=100)
    assert all(later <= rates[99] + 1e-12 for later in rates[100:])


def test_groups_keep_their_own_rates(tmp_path, monkeypatch):
    """A group with half the learning rate keeps half the rate at every step."""
    build, built = train.build_optimizer, []

    def build_with_groups(model, config):
        optimizer = build(model, config)
        one, other = optimizer.param_groups[-1], torch.nn.Parameter(torch.zeros(()))
        optimizer.add_param_group({**one, "params": [other], "lr": one["lr"] / 2})
        built.append(optimizer)
        return optimizer

    monkeypatch.setattr(train, "build_optimizer", build_with_groups)
    run(tmp_path, max_steps=3)
    *_, one, other = [group["lr"] for group in built[0].param_groups]
    assert one > 0 and other == pytest.approx(one / 2), "scale the rate of each group separately"

#: slot tests when kind=cosine
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[-1] < 0.02 * max(rates), "half a cosine ends near zero"

#: slot tests when kind=linear
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[-1] < 0.02 * max(rates), "the line ends near zero"

#: slot tests when kind=constant
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[-1] == max(rates), "it stays at the peak"

#: slot tests when kind=wsd
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1, decay_ratio=0.2)
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[50] == max(rates), "half-way it is at the peak"
    assert rates[-1] < 0.1 * max(rates), "the decay ends near zero"

#: slot tests when kind=one_cycle
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[-1] < 0.02 * max(rates), "the cycle ends near zero"

#: slot tests when kind=step
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1, schedule_step=0.25, schedule_factor=0.5)
    assert rates[9] == 1.0, "it reaches the peak"
    seen = [rates[step] for step in (24, 25, 49, 50, 75, 99)]
    assert seen == pytest.approx([1.0, 0.5, 0.5, 0.25, 0.125, 0.125]), "it falls after each step"

#: slot tests when kind=inverse_sqrt
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.04)
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0]), "it reaches the peak"
    assert rates[15] == pytest.approx(0.5), "after four times as many steps it is halved"
    assert rates[99] == pytest.approx(0.2)

#: slot tests when kind=plateau with checkpoints
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert rates[9] == max(rates) == rates[-1] == pytest.approx(1.0), "it stays at the peak"


def test_plateau_lowers_the_rate(tmp_path, capsys):
    """The rate falls after `patience` evaluations, and a resumed run keeps the lower rate."""

    def evaluate(accelerator, model, loader, name, limit):
        return {f"{name}_loss": 0.5, {{ task.metric | python }}: 0.5}

    changes = {"schedule_patience": 2, "schedule_factor": 0.1, "warmup_ratio": 0.0}
    with mock.patch.object(train, "evaluate", evaluate):
        run(tmp_path, epochs=3, checkpoint_unit="epochs", checkpoint_every=3, **changes)
        rates = [float(rate) for rate in column(capsys.readouterr().out, "lr")]
        assert set(rates) == {rates[0]}, "3 epochs: 1 best, 2 no better"
        run(tmp_path, epochs=4, resume="newest", **changes)
        later = [float(rate) for rate in column(capsys.readouterr().out, "lr")]
        assert later == pytest.approx([0.1 * rates[0]] * 6), "the plateau has no effect"
