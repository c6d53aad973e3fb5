from fractions import Fraction

import pytest
import torch
from safetensors.torch import load_file

import train
from helpers import run
from test_resume import last_checkpoint

#: slot tests
def test_best_model_is_the_final_one(tmp_path, monkeypatch, capsys):
    """If every evaluation counts as worse, the first weights are tested and saved."""
    evaluate, update = train.evaluate, train.BestModel.update
    evaluated, looked_at, scores = [], [], []

    def evaluate_and_note(accelerator, model, *rest):
        weights = accelerator.unwrap_model(model).state_dict()
        evaluated.append({key: value.clone() for key, value in weights.items()})
        return evaluate(accelerator, model, *rest)

    def get_worse(best_model, score, model):
        looked_at.append(evaluated[-1])
        scores.append(score)
        update(best_model, -len(scores), model)

    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    monkeypatch.setattr(train.BestModel, "update", get_worse)
    run(tmp_path)
    final = load_file(tmp_path / "model.safetensors")
    for tested in (evaluated[-1], final):
        best = [torch.equal(tested[name], looked_at[0][name]) for name in final]
        assert all(best), "the best weights must be tested and saved"
    last = [torch.equal(looked_at[-1][name], looked_at[0][name]) for name in final]
    assert not all(last), "no weights were trained between two evaluations"

    name, values = {{ features.best_model.monitor | python }}, []
    for line in capsys.readouterr().out.splitlines():
        if line.startswith(("epoch", "evaluated")) and f" {name} " in line:
            values.append({{ features.best_model.sign }} float(line.split(f" {name} ")[1].split()[0]))
    assert scores == pytest.approx(values, rel=1e-4, abs=1e-3), "higher scores are better"


def test_without_a_best_model_the_last_weights_stay(tmp_path, monkeypatch):
    """As in a run that stops before its first evaluation, or whose scores are all NaN."""
    monkeypatch.setattr(train.BestModel, "update", lambda *_: None)
    run(tmp_path)
    assert (tmp_path / "model.safetensors").exists()

#: slot tests with checkpoints
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
