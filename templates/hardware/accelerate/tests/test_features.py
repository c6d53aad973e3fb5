from helpers import run

#: slot tests when launcher=pytorchjob|sagemaker|slurm|trainjob
def test_resume_auto_starts_and_continues(tmp_path, capsys):
    """A restarted job resumes the newest checkpoint; the first start finds none."""
    run(tmp_path, epochs=1, resume="auto")
    assert "resumed" not in capsys.readouterr().out
    run(tmp_path, resume="auto")
    assert "resumed" in capsys.readouterr().out
