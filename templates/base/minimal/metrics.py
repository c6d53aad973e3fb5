#: file when loop=minimal
"""Metrics of an evaluation."""

#: slot classes
