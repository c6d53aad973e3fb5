import json
import sys
from pathlib import Path

import evaluate
import torch
from matplotlib.image import imread

import train
from errors import draw_images
from helpers import run

#: slot tests
def test_evaluate_gives_the_metrics_of_training(tmp_path, monkeypatch):
    """They match to the last digit, and the per-sample metrics agree with them."""
    evaluated, measured = train.evaluate, {}

    def evaluate_and_note(accelerator, model, loader, name, *limit):
        metrics = evaluated(accelerator, model, loader, name, *limit)
        measured.update(metrics)
        return metrics

    monkeypatch.setattr(train, "evaluate", evaluate_and_note)
    run(tmp_path, epochs=1)
    report = write_report(tmp_path, "test", monkeypatch)
    compared = [name for name in measured if name.startswith("test_")]
    assert compared, "nothing was tested"
    for name in compared:
        assert report[name]["value"] == measured[name]


def write_report(folder: Path, split: str, monkeypatch, *flags: str) -> dict:
    """What evaluate.py writes about a run."""
    given = [f"--run={folder}", f"--split={split}", *flags]
    monkeypatch.setattr(sys, "argv", ["evaluate.py", *given])
    evaluate.main()
    return json.loads((folder / "evaluation" / split / "metrics.json").read_text())

#: slot tests when project.task=image_classification without stream
def test_the_worst_images_are_drawn(tmp_path, monkeypatch):
    """Those with the highest losses first, bytes as bright as the same numbers from 0 to 1."""
    drawn = []
    monkeypatch.setattr(evaluate, "draw_images", lambda *given: drawn.append(given))
    run(tmp_path, epochs=1)
    write_report(tmp_path, "test", monkeypatch)
    [(path, images, captions)] = drawn
    rows = (tmp_path / "evaluation/test/samples.csv").read_text().splitlines()[1:]
    assert path.name == "worst.png" and 0 < len(images) == len(captions) == min(25, len(rows))
    first = int(rows[0].split(",")[0])
    _, _, loader = evaluate.open_run(evaluate.Accelerator(), tmp_path, "test")
    assert torch.equal(images[0], loader.dataset[first][0])
    draw_images(tmp_path / "bytes.png", [torch.full((1, 4, 4), 102, dtype=torch.uint8)], ["3 | 8"])
    draw_images(tmp_path / "numbers.png", [torch.full((1, 4, 4), 0.4)], ["3 | 8"])
    assert (imread(tmp_path / "bytes.png") == imread(tmp_path / "numbers.png")).all()
