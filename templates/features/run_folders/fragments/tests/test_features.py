import pytest
from helpers import SETTINGS, run
from pathlib import Path
from train import Config

#: slot tests
def test_each_run_makes_a_folder(tmp_path, capsys):
    for _ in range(2):
        run(tmp_path / "{time}_x" / "run", epochs=1, max_steps=1)
    log = capsys.readouterr().out
    made = [path.relative_to(tmp_path) for path in sorted(tmp_path.glob("*/*"))]
    assert len(made) == 2
    for path in made:
        assert f"{tmp_path / path} | " in log, "the first line of a run names its folder"
        assert path.match("????-??-??_??-??-??_x/run")
        assert (tmp_path / path / "model.safetensors").exists()
    assert Config(**SETTINGS).output_dir == Path("runs/{time}")


def test_other_names_in_braces_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="only {time} is known, not {date}"):
        run(tmp_path / "{date}")
    assert not list(tmp_path.iterdir())
