from pathlib import Path

import pytest

from checkpoint import find_checkpoints
from helpers import SETTINGS, run
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

#: slot tests with checkpoints
def test_the_newest_run_with_a_checkpoint_is_resumed(tmp_path):
    """It continues in its folder, and so does a named checkpoint of any run."""
    pattern = tmp_path / "{time}"
    for _ in range(2):
        run(pattern, epochs=1, max_steps=2)
    older, newer = sorted(tmp_path.iterdir())
    empty = tmp_path / "2999-01-01_00-00-00"
    empty.mkdir()
    run(pattern, epochs=1, max_steps=3, resume="newest")
    counts = [len(find_checkpoints(folder)) for folder in (older, newer, empty)]
    assert counts == [1, 2, 0]
    [first] = find_checkpoints(older)
    run(pattern, epochs=1, max_steps=3, resume=str(first))
    assert len(find_checkpoints(older)) == 2
    assert sorted(tmp_path.iterdir()) == [older, newer, empty]
