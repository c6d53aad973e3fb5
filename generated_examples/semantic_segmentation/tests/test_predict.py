"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import PartialState
from PIL import Image

import predict
import train
from data import build_loaders
from helpers import run
from metrics import count_pixels, segmentation_scores


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


def predict_images(config, model, images) -> list[dict]:
    def to_picture(image):
        return Image.fromarray((255 * image).round().byte().permute(1, 2, 0).numpy())

    with mock.patch.object(predict, "read_image", to_picture):
        return predict.predict(config, model, images)


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    images, masks = (torch.cat(parts) for parts in zip(*read_batches(config), strict=True))
    rows = predict_images(config, model, list(images))
    predictions = torch.stack([row["mask"] for row in rows])
    classes = sum(name.startswith("class_") for name in rows[0])
    scores = segmentation_scores(count_pixels(predictions, masks, classes).sum(dim=0))
    assert scores["mean_iou"] == pytest.approx(reported["test_mean_iou"], rel=1e-6)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    images = list(read_batches(config)[0][0])
    rows = predict_images(config, model, (5 * images)[:5])  # there may be fewer
    rows = [{**row, "mask": str(row["mask"].tolist())} for row in rows]
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
