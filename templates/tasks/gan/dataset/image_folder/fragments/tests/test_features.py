import pytest
import torch
import train
from helpers import SETTINGS
from model import build_discriminator, build_model

#: slot tests
@pytest.mark.parametrize("size", [8, 12, 50, 64])
def test_both_models_fit_the_size(size):
    config = train.Config(**{**SETTINGS, "image_size": size})
    images = build_model(config)(torch.randn(2, config.latent))
    assert images.shape == (2, 3, size, size)
    assert build_discriminator(config)(images).shape == (2,)
