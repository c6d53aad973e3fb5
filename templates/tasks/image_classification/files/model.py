"""The model: images in, {{ task.outputs }} out."""

from torch import nn

#: slot standardize


#: slot model


#: region build
def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
#: end build
