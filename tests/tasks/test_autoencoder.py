"""The autoencoder on MNIST, in files of its format that are made here."""

from pathlib import Path

import pytest

from support.inputs import ENVIRONMENT, make_mnist
from support.rendering import write_project
from support.training import run

pytestmark = pytest.mark.train


@pytest.mark.parametrize("processes", [pytest.param(1, marks=pytest.mark.sweep), 2])
def test_autoencoder_on_mnist(
    processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    project = write_project(tmp_path, "autoencoder", dataset="mnist")
    make_mnist(project / "data/MNIST/raw")
    script = ["train.py", "--epochs", "2", "--batch-size", str(32 // processes)]
    result = run(project, *script, processes=processes)
    assert "| 30 steps" in result, "500 of 600 images are trained on, 32 per step"
    pictures = sorted(path.name for path in (project / "runs/latest").glob("*.png"))
    assert pictures == ["reconstructions_00000015.png", "reconstructions_00000030.png"]
