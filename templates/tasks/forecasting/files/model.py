"""The model: scaled values in, the next values out."""

from torch import Tensor, nn

#: slot quantiles


#: slot model


def build_model(config) -> nn.Module:
    """The model, before it is prepared."""
    ...  #: slot build_model
    ...  #: slot result
