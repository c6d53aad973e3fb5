from callbacks import LearningCurves
from matplotlib.figure import Figure
import json

#: slot tests
def test_the_curves_show_the_test_at_the_step_of_the_best_model(tmp_path, monkeypatch):
    lines = [{"step": step, {{ features.best_model.monitor | python }}: {{ features.best_model.sign }}score} for step, score in ((4, 1), (8, 2), (12, 1))]
    source, target = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    source.write_text("\n".join(map(json.dumps, [*lines, {"step": 12, "test_loss": 2.5}])))
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path: drawn.append(figure))
    LearningCurves(source, target).draw()
    found = {line.get_label(): line for axes in drawn[0].axes for line in axes.lines}
    assert found["test_loss"].get_xydata().tolist() == [[8, 2.5]]
