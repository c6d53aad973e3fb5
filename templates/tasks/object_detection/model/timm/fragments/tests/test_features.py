from unittest import mock
import pytest
import torch
import train
from model import build_model
import timm
from helpers import SETTINGS

#: slot tests
def test_images_are_normalized():
    backbone = build_model(train.Config(**SETTINGS)).backbone
    with mock.patch.object(backbone.model, "forward", return_value=[0] * 5) as forward:
        backbone(backbone.mean.expand(2, 3, 32, 32))
    assert not forward.call_args.args[0].any()


def test_pretrained_weights_are_requested():
    create = timm.create_model
    for pretrained in (False, True):
        with mock.patch.object(timm, "create_model") as loader:
            loader.side_effect = lambda name, pretrained, **settings: create(name, **settings)
            build_model(train.Config(**{**SETTINGS, "pretrained": pretrained}))
        assert loader.call_args.kwargs["pretrained"] == pretrained


def test_backbones_that_do_not_fit():
    reasons = {"resnet81": "timm has no resnet81", "test_vit": "Choose one with 4, 8, 16 and 32"}
    for name, message in reasons.items():
        with pytest.raises(SystemExit, match=message):
            build_model(train.Config(**{**SETTINGS, "backbone": name}))
