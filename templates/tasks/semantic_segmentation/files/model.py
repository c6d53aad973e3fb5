"""The model: images in, one logit for each class and pixel out."""

import torch
from torch import Tensor, nn

#: slot model


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
