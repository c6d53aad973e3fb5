"""Reads a script: which framework it trains with, and what it does."""

from pathlib import Path

from scaffold.eject.accelerated import find_accelerated, read_accelerated
from scaffold.eject.lightning import find_trainer, read_lightning
from scaffold.eject.plan import Plan
from scaffold.eject.script import Script
from scaffold.eject.transformers import find_transformers, read_transformers
from scaffold.errors import ScaffoldError


def read_plan(path: Path) -> Plan:
    """Raises ScaffoldError for a script that can't be carried over."""
    if path.suffix not in (".py", ".ipynb") or not path.is_file():
        raise ScaffoldError(f"{path}: no Python file (.py) or notebook (.ipynb).")
    script = Script(path.resolve())
    if trainer := find_trainer(script):
        return read_lightning(script, trainer)
    if trainer := find_transformers(script):
        return read_transformers(script, trainer)
    if trainer := find_accelerated(script):
        return read_accelerated(script, trainer)
    raise ScaffoldError(
        f"{path}: no Trainer of Lightning, Transformers or pytorch-accelerated is made in it."
    )
