#: slot tests
def test_evaluates_before_training(tmp_path, capsys):
    """Once, with fresh weights, and not again when the run is resumed."""
    run(tmp_path, epochs=1)
    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("before training"))
    updates = [number for number, line in enumerate(lines) if line.startswith("update")]
    assert "val_{{ task.metrics[0] }}" in lines[first] and first < updates[0]
    run(tmp_path, epochs=2, resume="newest")
    assert "before training" not in capsys.readouterr().out
