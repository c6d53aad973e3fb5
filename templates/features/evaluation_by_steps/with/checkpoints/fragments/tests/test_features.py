import test_resume
from helpers import SETTINGS

#: slot tests
def test_resume_between_evaluations_is_exact(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "evaluate_every", 4)
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys, every=6)
