#: file when kind=head
"""The parameter groups of the optimizer."""

from torch import nn


def group_parameters(
    model: nn.Module, head: str, learning_rate: float, factor: float
) -> list[dict]:
    """Four groups: weights, and norms and biases, of the head and of the rest.

    The rest learns at `factor` times the learning rate. Norms and biases have no weight decay.
    `head` names parts of the model, separated by commas; if it is empty, the head is the last part.
    """
    names = [name for name, _ in model.named_parameters()]
    parts = list(dict.fromkeys(name.split(".")[0] for name in names))
    heads = tuple(f"{part}." for part in (head or parts[-1]).split(","))
    for part in heads:
        if not any(name.startswith(part) for name in names):
            known = ", ".join(parts)
            raise SystemExit(f"The model has no part {part[:-1]!r} for its head; it has {known}.")
    groups = []
    for depth, rate in enumerate((learning_rate, learning_rate * factor)):  # 0: the head
        part = [p for name, p in model.named_parameters() if name.startswith(heads) != depth]
        settings = {"lr": rate, "depth": depth}
        weights = [parameter for parameter in part if parameter.ndim > 1]
        others = [parameter for parameter in part if parameter.ndim <= 1]
        groups += [
            {"params": weights, **settings},
            {"params": others, "weight_decay": 0.0, **settings},
        ]
    return groups
