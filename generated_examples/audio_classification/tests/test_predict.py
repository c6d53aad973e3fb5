"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
from accelerate import PartialState

import predict
import train
from data import build_loaders, class_names
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


def predict_sounds(config, model, sounds) -> list[dict]:
    """Predict samples of the data instead of files."""
    with mock.patch.object(predict, "load_sound", lambda sound, _: sound):
        return predict.predict(config, model, sounds)


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    samples = [sample for batch in read_batches(config) for sample in zip(*batch, strict=True)]
    names, sounds = class_names(config), [(inputs, length) for inputs, length, _ in samples]
    rows = predict_sounds(config, model, sounds)
    right = sum(
        row["label"] == names[label] for row, (*_, label) in zip(rows, samples, strict=True)
    )
    assert right / len(samples) == pytest.approx(reported["test_accuracy"], rel=1e-6)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    inputs, lengths, _ = read_batches(config)[0]
    sounds = list(zip(inputs, lengths, strict=True))
    rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
    rows = [{**row, "sound": ""} for row in rows]
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
