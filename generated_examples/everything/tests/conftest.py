"""All tests run on the CPU, where two runs can be compared bit by bit."""

import os
import sys
from pathlib import Path

import pytest

os.environ["ACCELERATE_USE_CPU"] = "true"
sys.path.insert(0, str(Path(__file__).parent.parent))


@pytest.fixture(autouse=True)
def interruptible(monkeypatch):
    """Let Ctrl-C end pytest, not only the run in a test."""
    monkeypatch.setattr("preemption.SIGNALS", ["SIGTERM", "SIGUSR1"])
