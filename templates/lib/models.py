#: into model.py at functions
"""Parts of models, and models of transformers."""

from math import log2

import torch.nn.functional as F
from lib.access import check_hub
from torch import Tensor


def choose_widths(size: int) -> list[int]:
    """The channels at full size, and after each halving until 4 to 7 pixels per side are left."""
    halvings = int(log2(size / 4))
    return [min(16 * 2**number, 128) for number in range(halvings + 1)]


def load(kind, name: str, **settings):
    check_hub(name)
    try:
        return kind.from_pretrained(name, **settings)
    except (OSError, ValueError) as error:  # no such model, or no network
        raise SystemExit(f"--model-name {name} can't be loaded: {error}") from error


def pool(states: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens of each text, as unit vectors, (batch, width).

    `states` have the shape (batch, length, width). Padding does not count.
    """
    mask = mask.unsqueeze(2)
    return F.normalize((states * mask).sum(dim=1) / mask.sum(dim=1), dim=1)
