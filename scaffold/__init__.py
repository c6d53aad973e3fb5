"""Writes plain PyTorch + Accelerate training projects, and carries them to other answers later."""

__version__ = "0.3.0"
