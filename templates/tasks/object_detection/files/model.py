"""The model: images in, boxes and a logit for each class out."""

import torch
from torch import Tensor, nn

#: slot model


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
