import pytest
import torch
import train
from helpers import SETTINGS
from model import build_model
from torch import nn

#: slot tests
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
