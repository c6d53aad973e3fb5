"""Files and lines that a project can't use: what it says of each, and that it does nothing else."""

from collections.abc import Mapping
from pathlib import Path

from support.training import said


def refuse_flags(
    project: Path, expected: Mapping[tuple[str, ...], str], script: str = "train.py"
) -> None:
    """How the message begins with which a script ends, for each of these flags.

    Nothing is trained.
    """
    more = ["--output-dir", "runs/other"] if script == "train.py" else []
    messages = said(project, script, *([*flags, *more] for flags in expected))
    for message, beginning in zip(messages, expected.values(), strict=True):
        assert beginning and message.startswith(beginning), message
    assert not (project / "runs/other").exists()


def refuse_paths(project: Path, expected: Mapping[str, str]) -> None:
    """The same for the values of --path."""
    refuse_flags(project, {("--path", name): beginning for name, beginning in expected.items()})
