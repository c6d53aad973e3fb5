"""The groups of parameters that the optimizer treats differently."""

from torch import nn


def group_parameters(model: nn.Module) -> list[dict]:
    """Two groups: matrices and filters, and what has no decay, biases and the scales of norms."""
    weights = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    return [{"params": weights}, {"params": others, "weight_decay": 0.0}]
