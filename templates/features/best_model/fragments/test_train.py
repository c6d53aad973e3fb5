import pytest
import torch
import train
from safetensors.torch import load_file

#: slot tests
def test_best_model_is_the_final_one(tmp_path, monkeypatch, capsys):
    """Each evaluation is said to be worse than the last: the first weights are tested and kept."""
    evaluate, improved = train.evaluate, train.BestModel.improved
    evaluated, looked_at, scores = [], [], []

    def evaluate_and_note(model, loader, accelerator, *rest):
        weights = accelerator.unwrap_model(model).state_dict()
        evaluated.append({key: value.clone() for key, value in weights.items()})
        return evaluate(model, loader, accelerator, *rest)

    def get_worse(best_model, score):
        looked_at.append(evaluated[-1])
        scores.append(score)
        return improved(best_model, -len(scores))

    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    monkeypatch.setattr(train.BestModel, "improved", get_worse)
    run(tmp_path)
    final = load_file(tmp_path / "model.safetensors")
    for tested in (evaluated[-1], final):
        best = [torch.equal(tested[name], looked_at[0][name]) for name in final]
        assert all(best), "the weights that are tested and kept are not those of the best epoch"
    last = [torch.equal(looked_at[-1][name], looked_at[0][name]) for name in final]
    assert not all(last), "no weights were trained between two evaluations"

    name, values = {{ features.best_model.monitor | python }}, []
    for line in capsys.readouterr().out.splitlines():
        if line.startswith(("epoch", "evaluated")) and f" {name} " in line:
            values.append({{ features.best_model.sign }}float(line.split(f" {name} ")[1].split()[0]))
    assert scores == pytest.approx(values, abs=1e-3), "more is better, and it is what is logged"


def test_without_a_best_model_the_last_weights_stay(tmp_path, monkeypatch):
    """As in a run that stops before its first evaluation, or sees only NaN."""
    monkeypatch.setattr(train.BestModel, "improved", lambda *_: False)
    run(tmp_path)
    assert (tmp_path / "model.safetensors").exists(), "the weights were not saved"


def test_a_run_that_goes_on_elsewhere_has_a_best_of_its_own(tmp_path, monkeypatch):
    first, improved = run(tmp_path / "one", epochs=1), train.BestModel.improved
    monkeypatch.setattr(train.BestModel, "improved", lambda best, _: improved(best, -1e9))
    run(tmp_path / "two", epochs=2, resume=str(first))
    assert (tmp_path / "two" / "best.safetensors").exists()
