import train

#: slot tests
def scheduled_rates(updates: int, **changes) -> list[float]:
    """The learning rate of each update of a run that peaks at 1."""
    config = train.Config(learning_rate=1.0, **changes)
    return [train.learning_rate(update, updates, config) for update in range(updates)]


def test_each_update_has_its_learning_rate(tmp_path, capsys):
    run(tmp_path)
    config = train.Config(**SETTINGS)
    expected = [f"{train.learning_rate(update, 12, config):.2e}" for update in range(12)]
    assert column(capsys.readouterr().out, "lr") == expected, "one step of the schedule an update"
