import pytest

#: slot tests
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1, decay_ratio=0.2)
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[50] == max(rates), "half-way it is at the peak"
    assert rates[-1] < 0.1 * max(rates), "the decay ends near zero"
