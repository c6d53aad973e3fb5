#: into model.py at functions
"""Layers whose number follows from the size of images."""

from math import log2


def choose_widths(size: int) -> list[int]:
    """The channels at full size, and after each halving until 4 to 7 pixels per side are left."""
    halvings = int(log2(size / 4))
    return [min(16 * 2**number, 128) for number in range(halvings + 1)]
