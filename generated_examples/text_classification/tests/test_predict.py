"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
from accelerate import PartialState

import predict
import train
from data import build_datasets, build_loaders, class_names
from helpers import run


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Path, dict[str, float]]:
    """The folder of a run of two steps, and the metrics that it reported."""
    folder, reported, evaluate = tmp_path_factory.mktemp("run"), {}, train.evaluate

    def note(*values):
        metrics = evaluate(*values)
        reported.update(metrics)
        return metrics

    with mock.patch.object(train, "evaluate", note):
        run(folder, epochs=1, limit_batches=2)
    return folder, reported


def read_batches(config) -> list:
    """The test batches that the run evaluated."""
    return list(islice(build_loaders(config)[2], config.limit_batches))


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    seen = sum(len(batch["labels"]) for batch in read_batches(config))
    texts, labels = zip(*build_datasets(config)[2][:seen], strict=True)
    rows = predict.predict(config, model, [text if len(text) > 1 else text[0] for text in texts])
    names = class_names(config)
    right = sum(row["label"] == names[label] for row, label in zip(rows, labels, strict=True))
    assert right / seen == pytest.approx(reported["test_accuracy"], rel=1e-12)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    texts = [text for text, _ in build_datasets(config)[2][:5]]
    rows = predict.predict(config, model, [text if len(text) > 1 else text[0] for text in texts])
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
