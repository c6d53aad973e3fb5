import gradio as gr
import pytest
import torch
from PIL import Image
from torch import nn

import train
from contrast import compare_views
from data import build_datasets, build_loaders, split_known
from helpers import SETTINGS, run
from model import build_model, to_images, to_patches
from probe import find_right

#: into tests/helpers.py
#: slot settings when encoder=timm
"backbone": "test_resnet",  # a small model

#: slot settings when encoder=torchvision
"backbone": "regnet_x_400mf",  # small; with new weights, its features of two images differ

#: replace sgd without unfreezing
# at first, all images look alike to the model: large steps would make rounding errors grow
return optim.SGD(model.parameters(), config.learning_rate / 10)

#: into tests/test_app.py
#: slot values
Image.new("RGB", (20, 30), (200, 100, 0)).save(tmp_path / "image.png")
with pytest.raises(gr.Error, match="Choose an image first"):
    page.fn(None)
values = [str(tmp_path / "image.png")]

#: slot expected
[row] = app.predict(config, model, values)
assert shown == [[name, pytest.approx(row[name])] for name in row if name != "image"]

#: into tests/test_features.py
#: replace rate with clipping
rate *= 10  # of which build_sgd takes a tenth
run(folder, epochs=1, max_steps=1, learning_rate=rate, **limit)

#: slot tests
def test_training_changes_in_each_epoch_and_evaluation_does_not():
    config = train.Config(**SETTINGS)
    train_set, val_set, _ = (loader.dataset for loader in build_loaders(config))

    def read(data, rows) -> list:
        return [data[row][1].tolist() for row in rows]

    first, fixed = read(train_set, range(8)), read(val_set, range(2))
    assert len({str(one) for one in first}) > 1, "all images have the same"
    train_set.set_epoch(1)
    assert read(train_set, range(8)) != first, "two epochs have the same"
    train_set.set_epoch(0)
    torch.rand(1)  # other random numbers in between, and another order
    assert read(train_set, reversed(range(8))) == first[::-1], "a resumed run differs"
    other = build_loaders(train.Config(**SETTINGS, seed=1))[1].dataset
    assert read(val_set, range(2)) == read(other, range(2)) == fixed

#: slot tests when method=simclr
def test_the_loss_is_that_of_all_other_views():
    """Formula 1 of https://arxiv.org/abs/2002.05709, one view after the other."""
    vectors = torch.randn(5, 2, 3, dtype=torch.float64)
    views = [(image, view) for image in range(5) for view in range(2)]
    expected = []
    for image, view in views:
        others = [other for other in views if other != (image, view)]
        similar = torch.stack([vectors[image, view] @ vectors[other] for other in others])
        positive = similar[others.index((image, 1 - view))]
        expected.append(-(positive.exp() / similar.exp().sum()).log())
    expected = torch.stack(expected).reshape(5, 2).mean(dim=1)
    torch.testing.assert_close(compare_views(vectors, vectors, torch.arange(5)), expected)
    torch.testing.assert_close(train.compare_all(vectors), expected)


def test_both_views_are_drawn(tmp_path):
    data = build_loaders(train.Config(**SETTINGS))[0].dataset
    image, views = data[0]
    assert views.shape == (2, *image.shape)
    assert not torch.equal(views[0], views[1]) and not torch.equal(views[0], image)
    numbers = torch.get_rng_state()
    assert torch.equal(data[0][1], views) and torch.equal(torch.get_rng_state(), numbers)
    run(tmp_path, limit_batches=2, epochs=1)
    with Image.open(tmp_path / "views.png") as picture:
        assert picture.width > picture.height, "up to 16 images in three rows"

#: slot tests when method=mae
def test_only_masked_patches_count():
    images = torch.rand(2, 1, 8, 8)
    patches = to_patches(images, 16)
    assert torch.equal(patches[0, 5], images[0, 0, 2:4, 2:4].flatten())
    assert torch.equal(to_images(patches, 1), images)
    seen = torch.tensor([[0, 5, 7], [15, 2, 1]])
    outputs = patches.clone()
    outputs[0, 5] += 9  # seen
    outputs[0, 6] += 0.5
    outputs[1, 0] -= 1
    losses = train.compute_loss(outputs, images, seen)
    torch.testing.assert_close(losses, torch.tensor([0.25 / 13, 1 / 13]))


def test_reconstructions_are_drawn_after_each_evaluation(tmp_path):
    run(tmp_path)
    paths = sorted(tmp_path.glob("reconstructions_*.png"))
    assert paths[-1].name == "reconstructions_00000012.png", "they have the number of their step"
    with Image.open(paths[0]) as picture:
        assert picture.width > picture.height, "up to 16 images in three rows"

#: slot tests when probe=classes
def test_probes_see_no_labels_of_new_images():
    """If features say nothing about classes, accuracy stays at chance level."""
    features, rng = torch.randn(400, 300), torch.Generator().manual_seed(0)
    labels = torch.randint(0, 4, (400,), generator=rng)
    known = torch.arange(400) < 200
    right = find_right(features, labels, known)
    others = find_right(features, torch.where(known, labels, 3 - labels), known)
    for probe in right:
        message = f"{probe} has seen the labels that it has to predict"
        assert right[probe].double().mean() < 0.4, message
        assert not (right[probe] & others[probe]).any(), "a prediction changed with its label"
    leaked = torch.cat([features[~known]] * 2), torch.cat([labels[~known]] * 2)
    leak = find_right(*leaked, known)  # with the answers among the known labels
    assert leak["linear"].double().mean() > 0.9, "this test would not see a leak"


def test_the_probes_only_know_training_images():
    config = train.Config(**SETTINGS)
    train_set, val_set, _ = build_datasets(config)
    known, others = split_known(train_set, config)
    assert len(known) + len(others) == len(train_set) and len(known) <= config.known
    assert not {*known.indices} & {*others.indices}
    data = build_loaders(config)[1].dataset
    samples = [data[row] for row in range(len(data))]
    for part, is_known in ((known, True), (val_set, False)):
        found = [(sample[0], int(sample[2])) for sample in samples if sample[3] == is_known]
        assert len(found) == len(part)
        for (image, label), expected in zip(found, part, strict=True):
            assert torch.equal(image, expected[0]) and label == int(expected[1])

#: slot tests when encoder=timm|torchvision
def test_images_are_normalized_for_the_backbone():
    """A grayscale image equals one with three equal channels, and the mean becomes zero."""
    encoder = build_model(train.Config(**SETTINGS)).eval().encoder
    grey = torch.rand(2, 1, 32, 32)
    torch.testing.assert_close(encoder(grey), encoder(grey.expand(2, 3, 32, 32)))
    encoder.network = nn.Identity()
    assert not encoder(encoder.mean.expand(2, 3, 32, 32)).any()


def test_an_unknown_backbone_is_named():
    with pytest.raises(SystemExit, match="resnet81"):
        build_model(train.Config(**{**SETTINGS, "backbone": "resnet81"}))

#: into tests/test_predict.py
#: slot functions
def predict_images(config, model, images) -> list[dict]:
    #: region read
    with mock.patch.object(predict, "read_image", lambda image: 255 * image):
        #: end read
        return predict.predict(config, model, images)

#: slot five
rows = predict_images(config, model, list(read_batches(config)[0][0][:5]))

#: replace read when dataset=image_folder
with mock.patch.object(predict, "ImageFiles", lambda images, size: images):

#: slot metric when probe=classes
images, _, labels, known = zip(*read_batches(config), strict=True)
rows = predict_images(config, model, list(torch.cat(images)))
names = [name for name in rows[0] if name.startswith("feature_")]
features = torch.tensor([[row[name] for name in names] for row in rows])
for probe, right in find_right(features, torch.cat(labels), torch.cat(known)).items():
    found = float(right.double().mean())
    assert found == pytest.approx(reported[f"test_{probe}_accuracy"], abs=1e-9)

#: replace metric when probe=none
def test_features_are_those_of_the_model(trained):
    config, model = predict.load(trained[0])
    images = torch.cat([images for images, _ in read_batches(config)])
    rows = predict_images(config, model, list(images))
    found = torch.tensor(
        [[value for name, value in row.items() if name != "image"] for row in rows]
    )
    with torch.no_grad():
        torch.testing.assert_close(found, model(images), rtol=1e-4, atol=1e-5)
