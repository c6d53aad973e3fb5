"""The groups of parameters that the optimizer treats differently."""

from torch import nn


def group_parameters(
    model: nn.Module, head: str, learning_rate: float, factor: float
) -> list[dict]:
    """Two groups for the head, two for all else: matrices and filters, and what has no decay.

    `head` names parts of the model, with commas between them; without a name it is the last part.
    `depth` is 0 for the head and 1 for all else, whose rate has the `scale` factor.
    """
    names = [name for name, _ in model.named_parameters()]
    parts = list(dict.fromkeys(name.split(".")[0] for name in names))
    heads = tuple(f"{part}." for part in (head or parts[-1]).split(","))
    for part in heads:
        if not any(name.startswith(part) for name in names):
            known = ", ".join(parts)
            raise SystemExit(f"The model has no part {part[:-1]!r} for its head; it has {known}.")
    groups = []
    for depth, scale in enumerate((1.0, factor)):
        part = [p for name, p in model.named_parameters() if name.startswith(heads) != depth]
        rate = {"lr": learning_rate * scale, "scale": scale, "depth": depth}
        weights = [parameter for parameter in part if parameter.ndim > 1]
        others = [parameter for parameter in part if parameter.ndim <= 1]
        groups += [{"params": weights, **rate}, {"params": others, "weight_decay": 0.0, **rate}]
    return groups
