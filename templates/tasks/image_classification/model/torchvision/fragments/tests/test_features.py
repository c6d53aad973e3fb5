from dataclasses import replace
from unittest import mock
import pytest
import torch
import train
from model import build_model
from torch import nn
from torchvision import models
from helpers import SETTINGS

#: slot tests
def test_grayscale_images_are_normalized_like_color_images():
    """A grayscale image equals one with three equal channels, and the mean becomes zero."""
    model = build_model(train.Config(**SETTINGS)).eval()
    grey = {{ task.white }} * torch.rand(2, 1, 32, 32)
    colors = grey.expand(2, 3, 32, 32)
    torch.testing.assert_close(model(grey), model(colors))
    model.backbone = model.head = nn.Identity()
    normalized = model({{ task.white }} * model.mean.expand(2, 3, 32, 32))
    torch.testing.assert_close(normalized, torch.zeros(2, 3, 32, 32))


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
