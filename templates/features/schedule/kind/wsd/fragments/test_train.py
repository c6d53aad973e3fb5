import pytest
import train

#: slot tests
def test_schedule_runs_its_course(tmp_path, capsys):
    """The learning rate of each update is that of the schedule, over all updates of the run."""
    config = train.Config(learning_rate=1.0, schedule_warmup=0.1, schedule_decay=0.2)
    rates = [train.learning_rate(update, 100, config) for update in range(100)]
    assert max(rates) == pytest.approx(1.0), "it reaches the peak"
    assert rates[-1] < 0.1 * max(rates), "the decay ends near zero"
    assert rates[50] == max(rates), "half-way it is at the peak"

    run(tmp_path)
    config = train.Config(**SETTINGS)
    expected = [f"{train.learning_rate(update, 12, config):.2e}" for update in range(12)]
    assert column(capsys.readouterr().out, "lr") == expected, "one step of the schedule an update"
