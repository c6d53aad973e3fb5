import pytest

#: slot environment
@pytest.fixture(autouse=True)
def interruptible(monkeypatch):
    """Let Ctrl-C end pytest, not only the run in a test."""
    monkeypatch.setattr("preemption.SIGNALS", ["SIGTERM", "SIGUSR1"])
