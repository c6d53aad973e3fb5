import pytest

#: slot tests
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1, schedule_step=0.25, schedule_factor=0.5)
    assert rates[9] == 1.0, "it reaches the peak"
    seen = [rates[step] for step in (24, 25, 49, 50, 75, 99)]
    assert seen == pytest.approx([1.0, 0.5, 0.5, 0.25, 0.125, 0.125]), "it falls after each step"
