"""Writes plain PyTorch + Accelerate training projects, and updates them when answers change."""

__version__ = "0.4.0"
