from dataclasses import replace
from pathlib import Path
from unittest import mock

import datasets
import gradio as gr
import pytest
import timm
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from PIL import Image
from torch import nn
from torchvision import models
from torchvision.utils import save_image

import data as data_module
import train
from data import build_datasets, build_loaders, class_names
from helpers import SETTINGS
from lib.scores import label_scores
from model import build_model

#: into tests/helpers.py
#: slot exact_model when labels=number
if isinstance(module, nn.GroupNorm):
    # small features: with large ones, SGD would overshoot a squared error
    nn.init.constant_(module.weight, 0.03)

#: slot settings when model=timm
"backbone": "test_resnet",  # a small model

#: slot settings when model=torchvision
"backbone": "regnet_x_400mf",  # small; with new weights, its features of two images differ

#: into tests/test_app.py
#: slot values
Image.new("RGB", (20, 30), (200, 100, 0)).save(tmp_path / "image.png")
(tmp_path / "text.png").write_text("not an image")
with pytest.raises(gr.Error, match="^.text.png can't be read as an image: [^/]*$"):
    page.fn(str(tmp_path / "text.png"))
with pytest.raises(gr.Error, match="Choose an image first"):
    page.fn(None)
values = [str(tmp_path / "image.png")]

#: slot expected
[row] = app.predict(config, model, values)
#: region expected
assert sum(shown.values()) == pytest.approx(1)
assert max(shown, key=shown.get) == row["label"]
#: end expected

#: replace expected when labels=many
assert shown == pytest.approx({name: row[f"p_{name}"] for name in class_names(config)})

#: replace expected when labels=number
assert shown == pytest.approx(row["prediction"])

#: into tests/test_features.py
#: slot tests
def test_every_run_has_the_same_split():
    """For any seed: otherwise one run would train on the test images of another."""
    seen = []
    for seed in (1, 2):
        set_seed(seed)
        parts = build_datasets(train.Config(**SETTINGS))
        seen.append([part[index][0] for part in parts for index in range(min(3, len(part)))])
    assert all(map(torch.equal, *seen))

#: slot tests when dataset=mnist
def test_mnist_has_three_parts():
    parts = build_datasets(train.Config(**SETTINGS))
    assert [len(part) for part in parts] == [50_000, 5_000, 5_000]
    images = {index for part in parts for index in part.indices}
    assert len(images) == 60_000, "an image is in two parts"
    image, label = parts[0][0]
    assert image.shape == (1, 28, 28) and image.min() == 0 and image.max() <= 1
    assert 0 <= label <= 9

#: slot tests when dataset=image_folder
def paint(folder: Path, colors: dict[str, list[float]], number: int) -> None:
    """Write `number` images of one color (red, green, blue) for each class."""
    for name, color in colors.items():
        (folder / name).mkdir(parents=True)
        image = torch.tensor(color).reshape(3, 1, 1).expand(3, 30, 40)
        for index in range(number):
            save_image(image, folder / name / f"{index}.png")


def test_folders_become_datasets(tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path), "image_size": 16})
    colors = {"blue": [0.0, 0.0, 1.0], "red": [1.0, 0.0, 0.0]}
    paint(tmp_path, colors, 50)
    assert class_names(config) == ["blue", "red"]
    assert [len(part) for part in build_datasets(config)] == [80, 10, 10], "a tenth for each split"
    for image, label in build_datasets(config)[2]:
        colour = 255 * torch.eye(3, dtype=torch.uint8)[[2, 0][label]]
        expected = colour.reshape(3, 1, 1).expand(3, 16, 16)
        assert torch.equal(image, expected)  # blue before red


def test_folders_of_parts(tmp_path):
    config = train.Config(**{**SETTINGS, "path": str(tmp_path)})
    colors = {"blue": [0.0, 0.0, 1.0], "red": [1.0, 0.0, 0.0]}
    paint(tmp_path / "train", colors, 10)
    paint(tmp_path / "test", colors, 4)
    assert [len(part) for part in build_datasets(config)] == [18, 2, 8]
    paint(tmp_path / "val", {"blue": [0.0, 0.0, 1.0], "yellow": [1.0, 1.0, 0.0]}, 3)
    with pytest.raises(SystemExit, match="has the classes"):
        build_datasets(config)


def test_folders_that_do_not_fit(tmp_path):
    (tmp_path / "empty").mkdir()
    blue, red = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
    paint(tmp_path / "few", {"blue": blue, "red": red}, 3)
    paint(tmp_path / "one", {"blue": blue}, 12)
    faults = {"none": "is not a folder", "empty": "needs a folder", "few": "too few images"}
    faults["one"] = "has one class, blue"
    for name, message in faults.items():
        path = tmp_path / name
        with pytest.raises(SystemExit, match=message):
            build_datasets(train.Config(**{**SETTINGS, "path": str(path)}))

#: slot tests when dataset=huggingface
def save_dataset(folder: Path, **sizes: int) -> train.Config:
    """Splits of red and blue images as Parquet files, and the settings that load them."""
    features = {"picture": datasets.Image(), "kind": datasets.ClassLabel(names=["red", "blue"])}
    for name, size in sizes.items():
        kinds = [index % 2 for index in range(size)]
        pictures = [Image.new("RGB", (40, 30), ["#ff0000", "#0000ff"][kind]) for kind in kinds]
        rows = {"picture": pictures, "kind": kinds}
        split = datasets.Dataset.from_dict(rows, features=datasets.Features(features))
        split.to_parquet(folder / f"{name}.parquet")
    changes = {"dataset_name": str(folder), "image_column": "picture", "label_column": "kind"}
    return train.Config(**{**SETTINGS, **changes, "image_size": 16})


def test_splits_become_datasets(tmp_path):
    config = save_dataset(tmp_path, train=20, test=4)
    assert class_names(config) == ["red", "blue"]
    parts = build_datasets(config)
    assert [len(part) for part in parts] == [18, 2, 4], "a tenth is for validation"
    for image, label in parts[2]:
        colour = 255 * torch.eye(3, dtype=torch.uint8)[[0, 2][label]]
        expected = colour.reshape(3, 1, 1).expand(3, 16, 16)
        assert torch.equal(image, expected)


def test_columns_that_do_not_fit(tmp_path):
    config = save_dataset(tmp_path, train=20)
    changes = [("label_column", "class", "has no column class"), ("label_column", "picture", "not")]
    changes += [("image_column", "kind", "holds no images")]
    for name, value, message in changes:
        with pytest.raises(SystemExit, match=message):
            build_datasets(replace(config, **{name: value}))


def test_a_broken_image_is_named(tmp_path):
    """Before training, if it is none, or when it is read, if it is cut off."""
    config = save_dataset(tmp_path, train=20)
    rows = datasets.load_dataset(str(tmp_path), split="train")
    stored = list(rows.cast_column("picture", datasets.Image(decode=False))["picture"])
    for data in (stored[4]["bytes"][:-30], b"no image"):
        stored[4] = {"bytes": data, "path": None}
        kinds = [index % 2 for index in range(20)]
        changed = datasets.Dataset.from_dict({"picture": stored, "kind": kinds})
        changed.cast(rows.features).to_parquet(tmp_path / "train.parquet")
        data_module.load_splits.cache_clear()
        with pytest.raises((SystemExit, OSError), match="train, row 5 can't be read as an image"):
            [*build_datasets(config)[0], *build_datasets(config)[1], *build_datasets(config)[2]]

#: slot tests when labels=number
def test_errors_are_in_the_unit_of_the_numbers():
    """RMSE, MAE and R² are those of the predictions for the whole set."""
    accelerator, config = Accelerator(), train.Config(**SETTINGS)
    model = accelerator.prepare(build_model(config))
    loader = accelerator.prepare(build_loaders(config)[1])
    metrics = train.evaluate(accelerator, model, loader, "val", 0)
    model.eval()
    with torch.no_grad():
        parts = [(model(images), targets) for images, targets in loader]
    predictions, targets = map(torch.cat, zip(*parts, strict=True))
    errors = predictions - targets
    expected = {
        "val_rmse": errors.square().mean().sqrt(),
        "val_mae": errors.abs().mean(),
        "val_r2": 1 - errors.square().sum() / (targets - targets.mean()).square().sum(),
    }
    for name, value in expected.items():
        assert metrics[name] == pytest.approx(value.item(), rel=1e-4, abs=1e-5), name

#: slot tests when model=timm|torchvision
def test_grayscale_images_are_normalized_like_color_images():
    """A grayscale image equals one with three equal channels, and the mean becomes zero."""
    model = build_model(train.Config(**SETTINGS)).eval()
    #: region grey
    grey = 1 * torch.rand(2, 1, 32, 32)
    #: end grey
    colors = grey.expand(2, 3, 32, 32)
    torch.testing.assert_close(model(grey), model(colors))
    model.backbone = model.head = nn.Identity()
    #: region normalized
    normalized = model(1 * model.mean.expand(2, 3, 32, 32))
    #: end normalized
    torch.testing.assert_close(normalized, torch.zeros(2, 3, 32, 32))

#: replace grey when dataset=image_folder|huggingface|csv model=timm|torchvision
grey = 255 * torch.rand(2, 1, 32, 32)

#: replace normalized when dataset=image_folder|huggingface|csv model=timm|torchvision
normalized = model(255 * model.mean.expand(2, 3, 32, 32))

#: slot tests when model=timm
def test_pretrained_weights_are_requested():
    create = timm.create_model
    for pretrained in (False, True):
        with mock.patch.object(timm, "create_model") as loader:
            loader.side_effect = lambda name, pretrained, **settings: create(name, **settings)
            build_model(train.Config(**{**SETTINGS, "pretrained": pretrained}))
        assert loader.call_args.kwargs["pretrained"] == pretrained


def test_unknown_backbone():
    with pytest.raises(SystemExit, match="timm has no resnet81"):
        build_model(train.Config(**{**SETTINGS, "backbone": "resnet81"}))

#: slot tests when model=torchvision
def test_pretrained_weights_are_requested():
    config = train.Config(**{**SETTINGS, "pretrained": True})
    fresh = models.get_model(config.backbone)
    weights = models.get_model_weights(config.backbone).DEFAULT
    with mock.patch.object(type(weights), "get_state_dict", return_value=fresh.state_dict()):
        loaded = build_model(config).backbone.state_dict()
    assert all(torch.equal(value, fresh.state_dict()[name]) for name, value in loaded.items())
    with mock.patch.object(type(weights), "get_state_dict", side_effect=AssertionError):
        build_model(replace(config, pretrained=False))


def test_unknown_backbone():
    for name in ("resnet81", "squeezenet1_1"):
        with pytest.raises(SystemExit, match="is not a torchvision classifier"):
            build_model(train.Config(**{**SETTINGS, "backbone": name}))

#: into tests/test_predict.py
#: slot functions
def predict_images(config, model, images) -> list[dict]:
    #: region read
    with mock.patch.object(predict, "read_image", lambda image: 255 * image):
        #: end read
        return predict.predict(config, model, images)

#: slot metric
samples = [sample for batch in read_batches(config) for sample in zip(*batch, strict=True)]
#: region names
names = [str(digit) for digit in range(10)]
#: end names
rows = predict_images(config, model, [image for image, _ in samples])
#: region metric_of_rows
right = sum(row["label"] == names[label] for row, (_, label) in zip(rows, samples, strict=True))
assert right / len(samples) == pytest.approx(reported["test_accuracy"], rel=1e-6)
#: end metric_of_rows

#: slot five
rows = predict_images(config, model, list(read_batches(config)[0][0][:5]))

#: replace read when dataset=image_folder|huggingface
with mock.patch.object(predict, "read_images", lambda _, images: torch.stack(images)):

#: replace names when dataset=image_folder|huggingface
names = class_names(config)

#: replace read when dataset=csv
with mock.patch.object(predict, "read_images", lambda _, images: torch.stack(images)):

#: replace names when labels=many
names = class_names(config)

#: replace metric_of_rows when labels=many
probs = torch.tensor([[row[f"p_{name}"] for name in names] for row in rows])
scores = label_scores(probs.logit(), torch.stack([labels for _, labels in samples]))
for name, value in scores.items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-6)

#: replace names when labels=number

#: replace metric_of_rows when labels=number
errors = [abs(row["prediction"] - float(number)) for row, (_, number) in zip(rows, samples, strict=True)]
assert sum(errors) / len(samples) == pytest.approx(reported["test_mae"], rel=1e-5)

#: replace names when dataset=csv labels=one
names = class_names(config)
