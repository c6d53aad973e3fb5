"""The command line: in this process, and in one of its own."""

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from scaffold.cli import main


@dataclass(frozen=True)
class Result:
    """What the command line said and ended with."""

    code: int
    out: str
    err: str


Cli = Callable[..., Result]


def command_line(monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process. Patches are written below `sys.stdout`: take `capfd`."""

    def run(*arguments: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["scaffold", *map(str, arguments)])
        capture.readouterr()
        try:
            main()
            code: object = 0
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            gc.enable()  # which a command turns off, because it is over so soon
        sys.stdout.flush()
        captured = capture.readouterr()
        assert isinstance(code, int)
        return Result(code, captured.out, captured.err)

    return run


def run_cli(
    *arguments: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, without a terminal."""
    return subprocess.run(
        [*before, sys.executable, "-m", "scaffold", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
