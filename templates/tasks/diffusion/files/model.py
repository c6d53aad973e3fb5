"""The model: noisy images and their times in, predictions for denoising out."""

from torch import Tensor, nn

from data import image_shape

#: slot model


#: slot functions


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
