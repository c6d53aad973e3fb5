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
from data import build_loaders, class_names
from helpers import run
from metrics import count_objects, detection_scores, judge


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


def test_boxes_are_in_pixels_of_the_image():
    """Of an image that is twice as high as the model takes it, and three times as wide."""
    found = torch.tensor([[10.0, 20.0, 30.0, 40.0, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]])
    [row] = predict.list_objects(found, Image.new("RGB", (96, 64)), 32, ["a", "b"])
    assert row == {"label": "b", "score": 0.5, "box": [30.0, 40.0, 90.0, 80.0]}


def test_objects_are_printed_and_drawn(tmp_path, capsys):
    Image.new("RGB", (40, 30)).save(tmp_path / "a.png")
    objects = [{"label": "b", "score": s, "box": [5.0, 5.0, 30.0, 20.0]} for s in (0.9, 0.2)]
    rows = [{"image": str(tmp_path / "a.png"), "objects": objects}]
    predict.write(rows, 0.5, tmp_path / "drawn", as_csv=False)
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["objects"] == objects[:1]
    picture = Image.open(tmp_path / "drawn" / "00000_a.png")
    assert picture.size == (40, 30) and picture.getpixel((5, 15)) != (0, 0, 0)


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    batches, names = read_batches(config), class_names(config)
    images = [image for batch in batches for image in batch[0]]
    targets = [objects for batch in batches for objects in batch[1]]
    found = torch.zeros(len(images), 100, 6)
    for row, image in zip(predict_images(config, model, images), found, strict=True):
        for one, values in zip(row["objects"], image, strict=False):
            values[:] = torch.tensor([*one["box"], one["score"], names.index(one["label"])])
    counts = count_objects(targets, len(names))
    scores = detection_scores(judge(found, targets), counts)
    for name, value in scores.items():
        assert value == pytest.approx(reported[f"test_{name}"], abs=1e-4)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    images = list(read_batches(config)[0][0])
    rows = predict_images(config, model, (5 * images)[:5])  # there may be fewer
    rows = [{"scores": [one["score"] for one in row["objects"]]} for row in rows]
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
