from helpers import run

#: slot tests
def test_evaluates_before_training(tmp_path, capsys):
    run(tmp_path, epochs=1)
    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("before training"))
    steps = [number for number, line in enumerate(lines) if line.startswith("step")]
    assert "val_{{ task.metrics[0] }}" in lines[first] and first < steps[0]
