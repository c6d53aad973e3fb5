import test_resume
from helpers import SETTINGS, run

#: into tests/helpers.py
#: slot settings
"evaluate_every": 6,

#: into tests/test_features.py
#: slot tests
def test_evaluates_by_steps(tmp_path, capsys):
    run(tmp_path, evaluate_every=5)
    lines = [line for line in capsys.readouterr().out.splitlines() if "val_{{ task.metrics[0] }}" in line]
    found = [line.split()[2] for line in lines if line.startswith("evaluated step")]
    assert found == ["5", "10", "12"], "the last of the 12 steps is always evaluated"
    assert not [line for line in lines if line.startswith("epoch")], "evaluated twice"

#: slot tests with checkpoints
def test_resume_between_evaluations_is_exact(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "evaluate_every", 4)
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys)
