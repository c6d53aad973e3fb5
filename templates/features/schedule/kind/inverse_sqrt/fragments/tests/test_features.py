import pytest

#: slot tests
def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.04)
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0]), "it reaches the peak"
    assert rates[15] == pytest.approx(0.5), "after four times as many steps it is halved"
    assert rates[99] == pytest.approx(0.2)
