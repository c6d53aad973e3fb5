import test_resume
from helpers import SETTINGS

#: slot tests
def test_resume_draws_the_same_mixture(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "mixing_probability", 1.0)
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys, 4)
