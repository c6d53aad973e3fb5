#: file when kind=layers
"""The parameter groups of the optimizer."""

import re

from torch import nn


def group_parameters(model: nn.Module, learning_rate: float, factor: float) -> list[dict]:
    """Two groups per layer, the last layer first: its weights, and its norms and biases.

    `depth` counts the layers from the output, and the rate is learning_rate * factor**depth, as in
    ELECTRA, Clark et al. 2020, https://arxiv.org/abs/2003.10555. Norms and biases have no decay. A
    norm on its own belongs to the layer before it.
    """
    named: dict[str, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        named.setdefault(layer_of(name), []).append(parameter)
    layers: list[list[nn.Parameter]] = []
    for parameters in named.values():
        if layers and all(parameter.ndim <= 1 for parameter in parameters):
            layers[-1] += parameters
        else:
            layers.append(parameters)
    groups = []
    for depth, parameters in enumerate(reversed(layers)):
        settings = {"lr": learning_rate * factor**depth, "depth": depth}
        weights = [parameter for parameter in parameters if parameter.ndim > 1]
        others = [parameter for parameter in parameters if parameter.ndim <= 1]
        groups += [
            {"params": weights, **settings},
            {"params": others, "weight_decay": 0.0, **settings},
        ]
    return groups


def layer_of(name: str) -> str:
    """The layer of a parameter: "blocks.3" of "blocks.3.norm.bias", "head" of "head.weight"."""
    numbered = re.match(r"(.*?\.)?\d+(?=\.)", name)
    return numbered[0] if numbered else name.rpartition(".")[0]
