import json

from matplotlib.figure import Figure

from callbacks import LearningCurves
from helpers import run

#: slot tests
def test_learning_curves_show_all_metrics(tmp_path, monkeypatch):
    """Each metric has a panel, with a curve in its own color for each set."""
    source, target = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    lines = [
        {"step": 2, "loss": 2.5, "lr": 0.1},
        {"step": 4, "train_loss": 2.0, "val_loss": 3.0, "val_exact_match": 0.1},
        {"step": 8, "train_loss": 1.0, "val_loss": 2.0, "val_exact_match": 0.2},
        {"step": 8, "test_loss": 2.5},
    ]
    source.write_text("\n".join(map(json.dumps, lines)))
    drawn, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda fig, path: [drawn.append(fig), save(fig, path)])
    LearningCurves(source, target).draw()
    found = {
        axes.get_ylabel(): {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
        for axes in drawn[0].axes
    }
    assert found == {
        "loss": {
            "loss": [[2, 2.5]],
            "train_loss": [[4, 2.0], [8, 1.0]],
            "val_loss": [[4, 3.0], [8, 2.0]],
            "test_loss": [[8, 2.5]],
        },
        "exact_match": {"val_exact_match": [[4, 0.1], [8, 0.2]]},
        "lr": {"lr": [[2, 0.1]]},
    }
    colors = {(line.get_label()[:3], line.get_color()) for ax in drawn[0].axes for line in ax.lines}
    assert {("tra", "C0"), ("val", "C1"), ("tes", "C2")} < colors
    assert len(colors) == 5, "one color for each set, and gray for the values of steps"
    assert target.read_bytes().startswith(b"\x89PNG")


def test_learning_curves_are_drawn(tmp_path):
    run(tmp_path, epochs=1)
    assert (tmp_path / "curves.png").exists()


def test_a_run_survives_curves_that_cannot_be_drawn(tmp_path, monkeypatch, capsys):
    def fail(*_) -> None:
        raise ValueError("no canvas")

    monkeypatch.setattr(Figure, "savefig", fail)
    run(tmp_path, epochs=1)
    assert "was not drawn: ValueError('no canvas')" in capsys.readouterr().out
    assert (tmp_path / "model.safetensors").exists()

#: slot tests with best_model
def test_the_curves_show_the_test_at_the_step_of_the_best_model(tmp_path, monkeypatch):
    lines = [{"step": step, {{ features.best_model.monitor | python }}: {{ features.best_model.sign }}score} for step, score in ((4, 1), (8, 2), (12, 1))]
    source, target = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    source.write_text("\n".join(map(json.dumps, [*lines, {"step": 12, "test_loss": 2.5}])))
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path: drawn.append(figure))
    LearningCurves(source, target).draw()
    found = {line.get_label(): line for axes in drawn[0].axes for line in axes.lines}
    assert found["test_loss"].get_xydata().tolist() == [[8, 2.5]]
