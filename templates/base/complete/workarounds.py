#: file when loop=complete
"""Workarounds for bugs in PyTorch and Accelerate. Each says when you can delete it."""

#: slot functions
