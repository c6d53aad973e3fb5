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
