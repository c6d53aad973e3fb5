from fractions import Fraction
from pickle import UnpicklingError

import pytest
import train
from helpers import run
from test_resume import last_checkpoint

#: slot tests
def test_a_resumed_run_gets_its_best_model_back(tmp_path, monkeypatch):
    """Also in another folder, or if another run has replaced the file."""
    first, update = last_checkpoint(run(tmp_path / "one", epochs=1)), train.BestModel.update
    monkeypatch.setattr(train.BestModel, "update", lambda best, _, model: update(best, -1e9, model))
    path = tmp_path / "one" / "best.safetensors"
    best = path.read_bytes()
    path.write_bytes(b"of another run")
    for folder in ("one", "two"):
        run(tmp_path / folder, epochs=2, resume=str(first))
        for name in ("best.safetensors", "model.safetensors"):
            same = (tmp_path / folder / name).read_bytes() == best
            assert same, f"{name} is not the best model of this checkpoint"


def test_a_score_of_another_kind_can_be_resumed(tmp_path, monkeypatch):
    """A checkpoint can't hold such a number, as it can't hold those of NumPy."""
    score, update = Fraction(1, 2), train.BestModel.update
    monkeypatch.setattr(
        train.BestModel, "update", lambda best, _, model: update(best, score, model)
    )
    run(tmp_path, epochs=1)
    run(tmp_path, epochs=2, resume="newest")


def test_a_state_that_is_no_data_is_refused_when_it_is_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(train.BestModel, "state_dict", lambda best: {"path": best.path})
    with pytest.raises(UnpicklingError, match="PosixPath|WindowsPath"):
        run(tmp_path, epochs=1)
