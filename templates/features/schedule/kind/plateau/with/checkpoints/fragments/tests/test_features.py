from unittest import mock
import pytest
import train
from helpers import run, column

#: slot tests
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
