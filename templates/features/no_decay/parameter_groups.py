#: file
"""The parameter groups of the optimizer."""

from torch import nn


def group_parameters(model: nn.Module) -> list[dict]:
    """Two groups: weights, and norms and biases, which have no weight decay."""
    #: region parameters
    parameters = list(model.parameters())
    #: end parameters
    weights = [parameter for parameter in parameters if parameter.ndim > 1]
    others = [parameter for parameter in parameters if parameter.ndim <= 1]
    return [{"params": weights}, {"params": others, "weight_decay": 0.0}]
