import pytest

import train
from config import parse_config
from helpers import SETTINGS, enough_data, run

#: slot tests when launcher=pytorchjob|sagemaker|slurm|trainjob
def test_resume_auto_starts_and_continues(tmp_path, capsys):
    """A restarted job resumes the newest checkpoint; the first start finds none."""
    flags = ["--output-dir", str(tmp_path), "--resume", "auto"]
    assert not parse_config("", flags).resume
    run(tmp_path, epochs=1)
    with pytest.raises(SystemExit, match="holds a trial run"):  # which no job should continue
        parse_config("", flags)
    trial = ["--limit-batches", str(SETTINGS["limit_batches"])]
    config = parse_config("", [*flags, *trial, "--epochs", "2"])
    with enough_data():
        train.main(config)
    assert "resumed" in capsys.readouterr().out
