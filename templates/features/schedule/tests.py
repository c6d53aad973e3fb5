from unittest import mock

import pytest
import torch

import train
from helpers import column, run

#: into tests/helpers.py
#: slot settings when kind=plateau
"schedule_patience": 99,

#: into tests/test_features.py
#: slot tests when kind=cosine|linear|constant|wsd|one_cycle|step|inverse_sqrt
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

#: slot tests when kind=cosine
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the full rate"
    assert rates[-1] < 0.02 * max(rates), "half a cosine ends near zero"

#: slot tests when kind=linear
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the full rate"
    assert rates[-1] < 0.02 * max(rates), "the line ends near zero"

#: slot tests when kind=constant
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the full rate"
    assert rates[-1] == max(rates), "it stays at the full rate"

#: slot tests when kind=wsd
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1, decay_ratio=0.2)
    assert max(rates) == pytest.approx(1.0), "it reaches the full rate"
    assert rates[50] == max(rates), "half-way it is at the full rate"
    assert rates[-1] < 0.1 * max(rates), "the decay ends near zero"

#: slot tests when kind=one_cycle
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the full rate"
    assert rates[-1] < 0.02 * max(rates), "the cycle ends near zero"

#: slot tests when kind=step
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1, schedule_step=0.25, schedule_factor=0.5)
    assert rates[9] == 1.0, "it reaches the full rate"
    seen = [rates[step] for step in (24, 25, 49, 50, 75, 99)]
    assert seen == pytest.approx([1.0, 0.5, 0.5, 0.25, 0.125, 0.125]), "it falls after each step"

#: slot tests when kind=inverse_sqrt
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.04)
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0]), "it reaches the full rate"
    assert rates[15] == pytest.approx(0.5), "after four times as many steps it is halved"
    assert rates[99] == pytest.approx(0.2)

#: slot tests when kind=plateau with checkpoints
def test_plateau_lowers_the_rate(tmp_path, capsys):
    """The rate falls after `patience` evaluations, and a resumed run keeps the lower rate."""

    def evaluate(accelerator, model, loader, name, limit):
        return {f"{name}_loss": 0.5, {{ task.metric | python }}: 0.5}

    changes = {"schedule_patience": 1, "schedule_factor": 0.1}
    with mock.patch.object(train, "evaluate", evaluate):
        run(tmp_path, epochs=3, checkpoint_unit="epochs", checkpoint_every=3, **changes)
        rates = [float(rate) for rate in column(capsys.readouterr().out, "lr")]
        assert set(rates) == {rates[0]}, "3 epochs: 1 best, 1 allowed, 1 that drops the rate"
        run(tmp_path, epochs=4, resume="newest", **changes)
        later = [float(rate) for rate in column(capsys.readouterr().out, "lr")]
        assert later == pytest.approx([0.1 * rates[0]] * 6), "the plateau has no effect"
