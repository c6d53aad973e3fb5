import pytest

#: slot environment


@pytest.fixture(autouse=True)
def interruptible(monkeypatch):
    """Ctrl-C ends pytest, and not only the run of a test."""
    monkeypatch.setattr("preemption.SIGNALS", ["SIGTERM", "SIGUSR1"])
