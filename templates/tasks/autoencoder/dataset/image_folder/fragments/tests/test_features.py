import pytest
import torch
import train
from helpers import SETTINGS
from model import build_model

#: slot tests
@pytest.mark.parametrize("size", [8, 12, 50, 64])
def test_the_model_fits_the_size(size):
    config = train.Config(**{**SETTINGS, "image_size": size})
    images = torch.rand(2, 3, size, size)
    model = build_model(config)
    assert model(images).shape == images.shape
    assert model.encoder(images).shape == (2, config.latent)
