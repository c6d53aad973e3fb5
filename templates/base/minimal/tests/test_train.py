#: file when loop=minimal
"""Training lowers the loss, and two processes evaluate like one."""

import os
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

os.environ["ACCELERATE_USE_CPU"] = "true"
PROJECT = Path(__file__).parent.parent


def run(folder: Path, *launcher: str) -> list[dict[str, float]]:
    """Train for 2 epochs. Returns the metrics of each epoch and of the test."""
    command = [sys.executable, *launcher, "train.py", "--epochs", "2", "--output-dir", str(folder)]
    result = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True)
    assert (folder / "model.safetensors").exists()
    return [
        literal_eval(line.split(" | ")[1]) for line in result.stdout.splitlines() if " | " in line
    ]


def test_training_on_one_process(tmp_path):
    first, second, _ = run(tmp_path)
    assert second["val_loss"] < first["val_loss"]


def test_training_on_two_processes(tmp_path):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    first, second, _ = run(tmp_path, *launcher)
    assert second["val_loss"] < first["val_loss"]
