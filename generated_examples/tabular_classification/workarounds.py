"""Workarounds for bugs in PyTorch and Accelerate. Each says when you can delete it."""

from importlib import import_module


def apply_workarounds() -> None:
    """Call it before Accelerator()."""
    import_distributed_functions()


def import_distributed_functions() -> None:
    """PyTorch 2.13: torch.distributed.nn keeps the process group that exists when it is imported.

    If it is imported later, the process can crash when it exits. Delete this when
    `group=group.WORLD` is gone there.
    """
    import_module("torch.distributed.nn")
