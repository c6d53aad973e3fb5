"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
from accelerate import PartialState

import predict
import train
from data import build_loaders, list_letters
from helpers import run
from metrics import count_edits


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


def list_samples(config) -> list[tuple]:
    """The sounds of the test data that the run evaluated, and their texts as numbers."""
    return [
        (sound[:length], text[:size].tolist())
        for batch in read_batches(config)
        for sound, length, text, size in zip(*batch, strict=True)
    ]


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    samples, letters = list_samples(config), list_letters(config)
    rows = predict_sounds(config, model, [sound for sound, _ in samples])
    edits = size = 0
    for row, (_, numbers) in zip(rows, samples, strict=True):
        text = "".join(letters[number] for number in numbers)
        edits += count_edits(row["text"], text)
        size += len(text)
    assert edits / size == pytest.approx(reported["test_cer"], rel=1e-6)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    sounds = [sound for sound, _ in list_samples(config)]
    rows = predict_sounds(config, model, (5 * sounds)[:5])  # there may be fewer
    rows = [{**row, "sound": ""} for row in rows]
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
