import train
from helpers import run
from test_resume import last_checkpoint
from safetensors.torch import load_file, save_file

#: slot tests
def test_the_best_model_belongs_to_its_checkpoint(tmp_path, monkeypatch, capsys):
    """In another folder, or if another run replaced the file, the best model is chosen again."""
    first, update = last_checkpoint(run(tmp_path / "one", epochs=1)), train.BestModel.update
    monkeypatch.setattr(train.BestModel, "update", lambda best, _, model: update(best, -1e9, model))
    path = tmp_path / "one" / "best.safetensors"
    save_file({name: weight + 1 for name, weight in load_file(path).items()}, path)
    for folder in ("one", "two"):
        run(tmp_path / folder, epochs=2, resume=str(first))
        assert "is not the best model of this checkpoint" in capsys.readouterr().out
        names = ("best.safetensors", "model.safetensors")
        best, final = ((tmp_path / folder / name).read_bytes() for name in names)
        assert best == final
