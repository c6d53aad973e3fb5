import pytest
import torch
import train
from boxes import find_objects
from data import build_loaders, collate
from helpers import SETTINGS
from loss import to_labels
from model import build_model
from unittest import mock

#: slot tests
def test_the_loss_of_an_image_is_its_own():
    """Whatever else is in its batch. Images without objects are learned, too."""
    config = train.Config(**SETTINGS)
    image = build_loaders(config)[0].dataset[0][0]
    samples = [(image, objects()), (image, objects((4, 4, 20, 20, 0), (8, 8, 30, 24, 0)))]
    samples.append((image.flip(2), objects((9, 4, 25, 20, 0))))
    model = build_model(config)
    _, losses = model(*collate(samples))
    alone = torch.cat([model(*collate([sample]))[1] for sample in samples])
    torch.testing.assert_close(alone, losses, msg="the loss depends on the other images")
    for part in (samples, samples[:1]):  # in training mode, with and without any objects
        _, losses = model.train()(*collate(part))
        losses.sum().backward()
        assert torch.isfinite(losses).all() and (losses > 0).all()


def test_a_model_that_diverged_has_no_finite_loss():
    """Transformers would end with an error that shows the boxes."""
    config = train.Config(**SETTINGS)
    model = build_model(config)
    for weight in model.parameters():
        weight.data.fill_(torch.nan)
    images, targets = next(iter(build_loaders(config)[0]))
    _, losses = model(images, targets)
    assert not losses.mean().isfinite()


def test_objects_are_given_as_centers_and_sizes():
    """From 0 to 1, without crowds."""
    labels = to_labels(objects((8, 16, 24, 32, 1), (0, 0, 4, 4, 0, "crowd")), 64)
    assert labels["boxes"].tolist() == [[0.25, 0.375, 0.25, 0.25]]
    assert labels["class_labels"].tolist() == [1]


def test_images_are_normalized():
    model = build_model(train.Config(**SETTINGS))
    images = model.mean.expand(2, 3, 64, 64) + model.std
    patch = mock.patch.object(model.model, "forward", side_effect=InterruptedError)
    with patch as forward, pytest.raises(InterruptedError):
        model(images)
    torch.testing.assert_close(forward.call_args.args[0], torch.ones(2, 3, 64, 64))


def test_detections_are_sorted_by_score():
    outputs = torch.rand(2, 64, 7)
    found = find_objects(outputs)
    assert found.shape == (2, 100, 6)
    assert (found[:, 1:, 4] <= found[:, :-1, 4]).all()
    scores = outputs[..., 4:].flatten(1)
    assert torch.equal(found[..., 4], scores.topk(100).values)
    queries, labels = scores.argmax(dim=1) // 3, scores.argmax(dim=1) % 3
    assert torch.equal(found[:, 0, 5], labels.float())
    assert torch.equal(found[:, 0, :4], outputs[torch.arange(2), queries, :4])
    few = find_objects(outputs[:, :10])
    assert (few[:, 30:] == 0).all() and (few[:, :30, 4] > 0).all()


def test_scores_are_from_0_to_1_and_boxes_in_pixels():
    config = train.Config(**SETTINGS)
    loader = build_loaders(config)[1]
    images, targets = next(iter(loader))
    with torch.no_grad():
        outputs, losses = build_model(config)(images, targets)
    assert losses.shape == (len(images),)
    centers = (outputs[..., :2] + outputs[..., 2:4]) / 2
    assert (centers >= 0).all() and (centers <= config.image_size).all()
    assert (outputs[..., 2:4] >= outputs[..., :2]).all()
    assert (outputs[..., 4:] >= 0).all() and (outputs[..., 4:] <= 1).all()
