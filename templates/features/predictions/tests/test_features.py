import csv
from pathlib import Path

import pytest
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader

import train
from data import build_loaders
from helpers import SETTINGS, launch, run, take
from model import build_model

#: slot tests
def test_predictions_are_in_order(tmp_path):
    """The same file on 1 and 2 processes, with the accuracy that is reported."""
    evaluate_33(tmp_path)
    launch(evaluate_33, tmp_path)
    one, two = ((tmp_path / f"{processes}.csv").read_text() for processes in "12")
    assert two == one, "gather in the order of the set, and cut off the padding"
    rows = list(csv.DictReader(one.splitlines()))
    assert [int(row["index"]) for row in rows] == list(range(33))
    right = sum(row["label"] == row["prediction"] for row in rows)
    assert right / 33 == pytest.approx(float((tmp_path / "accuracy").read_text()))


def evaluate_33(folder: Path) -> None:
    """Evaluate 33 test samples in batches of 4, after another evaluation."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[2]
    for size in (5, 33):
        subset = take(loader, size)
        batches = accelerator.prepare(DataLoader(subset, 4, collate_fn=loader.collate_fn))
        metrics = train.evaluate(accelerator, model, batches, "test", 0)
    if accelerator.is_main_process:
        train.predictions_file.write(folder / f"{accelerator.num_processes}.csv")
        (folder / "accuracy").write_text(str(metrics["test_accuracy"]))
    model = accelerator.free_memory(model)


def test_predictions_are_written(tmp_path):
    run(tmp_path, epochs=1)
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) > 1
