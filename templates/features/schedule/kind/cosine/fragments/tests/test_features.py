import pytest

#: slot tests
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[-1] < 0.02 * max(rates), "half a cosine ends near zero"
