"""The model: images in, {{ task.outputs }} out."""

from torch import nn

#: slot model


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
