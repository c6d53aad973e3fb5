from unittest import mock
import pytest
import torch
import train
from model import build_model
from torch import nn
import timm
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
    create = timm.create_model
    for pretrained in (False, True):
        with mock.patch.object(timm, "create_model") as loader:
            loader.side_effect = lambda name, pretrained, **settings: create(name, **settings)
            build_model(train.Config(**{**SETTINGS, "pretrained": pretrained}))
        assert loader.call_args.kwargs["pretrained"] == pretrained


def test_unknown_backbone():
    with pytest.raises(SystemExit, match="timm has no resnet81"):
        build_model(train.Config(**{**SETTINGS, "backbone": "resnet81"}))
