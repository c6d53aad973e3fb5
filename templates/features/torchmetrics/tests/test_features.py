import json
from pathlib import Path
from unittest import mock

import pytest
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader

import train
from data import build_loaders
from helpers import SETTINGS, launch, take
from metrics import ClassMetrics
from model import build_model

#: slot tests
def test_class_metrics_are_exact(tmp_path):
    """They are the same on 1 and 2 processes, count every sample once, and match a manual count."""
    evaluate_classes(tmp_path)
    one = json.loads((tmp_path / "1.json").read_text())
    launch(evaluate_classes, tmp_path)
    two = json.loads((tmp_path / "2.json").read_text())
    assert two["labels"] == one["labels"], "33 samples are counted once each, without padding"
    assert two["metrics"] == pytest.approx(one["metrics"], abs=1e-6)

    pairs = list(zip(one["predictions"], one["labels"], strict=True))
    precisions, recalls = [], []
    for label in set(one["predictions"] + one["labels"]):
        hits = pairs.count((label, label))
        precisions.append(hits / max(one["predictions"].count(label), 1))
        recalls.append(hits / max(one["labels"].count(label), 1))
    expected = {
        "val_accuracy": sum(prediction == label for prediction, label in pairs) / len(pairs),
        "val_precision": sum(precisions) / len(precisions),
        "val_recall": sum(recalls) / len(recalls),
    }
    right = round(expected["val_accuracy"] * 33)
    assert one["right"] == two["right"] == right, "add() returns the values of its batch"
    assert {name: one["metrics"][name] for name in expected} == pytest.approx(expected, abs=1e-6)


def evaluate_classes(folder: Path) -> None:
    """Evaluate 33 samples in batches of 4, and note what was counted."""
    accelerator = Accelerator()
    set_seed(1)
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = build_loaders(train.Config(**SETTINGS))[1]
    subset = take(loader, 33)
    batches = accelerator.prepare(DataLoader(subset, 4, collate_fn=loader.collate_fn))
    facts = {"predictions": [], "labels": [], "right": 0}

    def add(class_metrics, predictions, labels, classes):
        facts["predictions"] += predictions.tolist()
        facts["labels"] += labels.tolist()
        step = added(class_metrics, predictions, labels, classes)
        facts["right"] += round(step["accuracy"].item() * len(labels))
        return step

    added = ClassMetrics.add
    with mock.patch.object(ClassMetrics, "add", add):
        metrics = train.evaluate(accelerator, model, batches, "val", 0)
    #: slot class_metrics_evaluated
    if accelerator.is_main_process:
        path = folder / f"{accelerator.num_processes}.json"
        path.write_text(json.dumps({**facts, "metrics": metrics}))
    model = accelerator.free_memory(model)

#: slot class_metrics_evaluated when place=callback
train.class_metrics.after_evaluation(metrics)
