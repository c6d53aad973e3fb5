from helpers import run

#: into tests/test_features.py
#: slot tests
def test_evaluates_before_training(tmp_path, capsys):
    run(tmp_path, epochs=1)
    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("before training"))
    steps = [number for number, line in enumerate(lines) if line.startswith("step")]
    assert "val_{{ task.metrics[0] }}" in lines[first] and first < steps[0]

#: slot tests with checkpoints
def test_a_resumed_run_does_not_repeat_the_first_evaluation(tmp_path, capsys):
    run(tmp_path, epochs=1)
    capsys.readouterr()
    run(tmp_path, epochs=2, resume="newest")
    assert "before training" not in capsys.readouterr().out

#: into tests/test_training.py
#: replace noted when object_detection.model=small|timm
# not the loss: its targets are overlaps, which are 0 before training
losses.extend(-value for name, value in metrics.items() if name == "val_map")
