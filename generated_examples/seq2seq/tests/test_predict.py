"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import Accelerator, PartialState

import predict
import train
from data import build_loaders, encode
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


def test_targets_end_where_the_model_ends_them(trained, monkeypatch):
    config, model = predict.load(trained[0])
    written = torch.stack([encode("1998"), encode("20é")])
    later = torch.full((2, 3), ord("x"))
    monkeypatch.setattr(model, "generate", lambda *_: torch.cat([written, later], dim=1))
    rows = predict.predict(config, model, ["a", "b"], length=8)
    assert [row["text"] for row in rows] == ["1998", "20é"]


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    accelerator = Accelerator(mixed_precision=getattr(config, "mixed_precision", "no"))
    model, loader = accelerator.prepare(model, build_loaders(config)[2])
    metrics = train.evaluate(accelerator, model, loader, "test", config.limit_batches)
    assert metrics["test_loss"] == pytest.approx(reported["test_loss"], rel=1e-6)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    rows = predict.predict(
        config, model, ["3/14/1998", "4 May 1980", "", "x", "14.3.1998"], length=8
    )
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
