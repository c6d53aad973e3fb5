import pytest
import torch
from accelerate import Accelerator
from torch import nn

import train
from data import build_loaders
from helpers import SETTINGS
from model import build_model

#: slot tests
def test_psnr_of_a_known_error():
    """The images are off by a tenth of their range: 10 * log10(1 / 0.1**2) decibels."""

    class Brighter(nn.Module):
        def forward(self, images):
            return images + 0.1

    loader = build_loaders(train.Config(**SETTINGS))[1]
    metrics = train.evaluate(Accelerator(), Brighter(), loader, "val", 0)
    assert metrics == pytest.approx({"val_loss": 0.01, "val_psnr": 20.0}, rel=1e-4)

#: slot tests when dataset=image_folder
@pytest.mark.parametrize("size", [8, 12, 50, 64])
def test_the_model_fits_the_size(size):
    config = train.Config(**{**SETTINGS, "image_size": size})
    images = torch.rand(2, 3, size, size)
    model = build_model(config)
    assert model(images).shape == images.shape
    assert model.encoder(images).shape == (2, config.latent)
