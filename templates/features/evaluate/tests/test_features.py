import json
import sys
from pathlib import Path

import evaluate
import train
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
