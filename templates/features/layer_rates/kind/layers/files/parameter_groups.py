"""The groups of parameters that the optimizer treats differently."""

import re

from torch import nn


def group_parameters(model: nn.Module, learning_rate: float, factor: float) -> list[dict]:
    """Two groups for each layer, the last layer first: matrices and filters, and what has no decay.

    `depth` counts the layers from the output. The rate has the `scale` factor ** depth: BEiT and
    ELECTRA are fine-tuned so, Clark et al. 2020, https://arxiv.org/abs/2003.10555.
    """
    layers: dict[str, list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        layers.setdefault(layer_of(name), []).append(parameter)
    groups = []
    for depth, parameters in enumerate(reversed(layers.values())):
        scale = factor**depth
        rate = {"lr": learning_rate * scale, "scale": scale, "depth": depth}
        weights = [parameter for parameter in parameters if parameter.ndim > 1]
        others = [parameter for parameter in parameters if parameter.ndim <= 1]
        groups += [{"params": weights, **rate}, {"params": others, "weight_decay": 0.0, **rate}]
    return groups


def layer_of(name: str) -> str:
    """The layer of a parameter: "blocks.3" of "blocks.3.norm.bias", "head" of "head.weight"."""
    numbered = re.match(r"(.*?\.)?\d+(?=\.)", name)
    return numbered[0] if numbered else name.rpartition(".")[0]
