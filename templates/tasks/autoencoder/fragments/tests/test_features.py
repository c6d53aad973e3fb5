import pytest
import train
from torch import nn
from helpers import SETTINGS
from accelerate import Accelerator
from data import build_loaders

#: slot tests
def test_psnr_of_a_known_error():
    """The images are off by a tenth of their range: 10 * log10(1 / 0.1**2) decibels."""

    class Brighter(nn.Module):
        def forward(self, images):
            return images + 0.1

    loader = build_loaders(train.Config(**SETTINGS))[1]
    metrics = train.evaluate(Accelerator(), Brighter(), loader, "val", 0)
    assert metrics == pytest.approx({"val_loss": 0.01, "val_psnr": 20.0}, rel=1e-4)
