import subprocess
import sys
from pathlib import Path

import optuna

import search
import train
from config import Config

#: slot tests
def test_settings_of_config_are_searched():
    found = search.suggest(optuna.trial.FixedTrial(vars(Config())))
    assert found and found.items() <= vars(Config()).items(), "a name that is not a field of Config"


def test_a_search_repeats_no_trial(tmp_path):
    """Two trials run at once, each in its own folder. A second start has nothing left to do."""
    command = [sys.executable, "search.py", "--output-dir", str(tmp_path), "--jobs", "2"]
    command += ["--trials", "2", "--epochs", "1", "--limit-batches", "2"]
    project, written = Path(train.__file__).parent, []
    for _ in range(2):
        subprocess.run(command, cwd=project, check=True, capture_output=True)
        written.append([path.stat().st_mtime for path in sorted(tmp_path.glob("*/*"))])
        study = optuna.load_study(study_name="search", storage=f"sqlite:///{tmp_path}/study.db")
        states = [trial.state.name for trial in study.trials]
        assert states == ["COMPLETE"] * 2, (tmp_path / "trial_0001.log").read_text()
    assert written[0] == written[1], "a trial was repeated"
    assert study.trials[0].params.items() <= vars(Config()).items(), "the first has the defaults"
    assert (tmp_path / "trial_0001" / "model.safetensors").exists()
