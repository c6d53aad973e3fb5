import json
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from matplotlib.figure import Figure
from torch.utils.data import DataLoader

import confusion
import train
from data import build_loaders
from helpers import SETTINGS, launch, run, take
from model import build_model

#: slot tests
def test_the_confusion_matrix_has_each_sample_once(tmp_path):
    """Of 33 samples in batches of 4, on 1 and on 2 processes."""
    count_33(tmp_path)
    launch(count_33, tmp_path)
    one, two = (json.loads((tmp_path / f"{count}.json").read_text()) for count in (1, 2))
    assert one["counts"] == two["counts"]
    counts = torch.tensor(one["counts"])
    assert counts.sum() == 33
    assert float(counts.trace() / 33) == pytest.approx(one["accuracy"])


def count_33(folder: Path) -> None:
    """Evaluate 33 samples after another evaluation."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[1]
    for size in (5, 33):
        batches = DataLoader(take(loader, size), 4, collate_fn=loader.collate_fn)
        metrics = train.evaluate(accelerator, model, accelerator.prepare(batches), "val", 0)
    facts = {"counts": train.confusion_plot.count().tolist(), "accuracy": metrics["val_accuracy"]}
    if accelerator.is_main_process:
        (folder / f"{accelerator.num_processes}.json").write_text(json.dumps(facts))


def test_the_confusion_matrix_is_drawn(tmp_path):
    """With more classes than a picture shows, too."""
    run(tmp_path, epochs=1)
    picture = tmp_path / "confusion.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    plot = confusion.ConfusionPlot()
    labels = torch.arange(100)
    plot.add(labels, labels.flip(0))
    assert plot.count()[3, 96] == 1 and plot.count().sum() == 100
    plot.draw(tmp_path / "large.png")
    assert (tmp_path / "large.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_survives_a_confusion_matrix_that_cannot_be_drawn(tmp_path, monkeypatch, capsys):
    def fail(*_) -> None:
        raise ValueError("no canvas")

    monkeypatch.setattr(Figure, "savefig", fail)
    run(tmp_path, epochs=1)
    assert "confusion.png was not drawn: ValueError('no canvas')" in capsys.readouterr().out
