"""Training lowers the loss, on one process and on two."""

import os
import re
import subprocess
import sys
from pathlib import Path

os.environ["ACCELERATE_USE_CPU"] = "true"
PROJECT = Path(__file__).parent.parent


def run(folder: Path, *launcher: str) -> list[float]:
    """Train for 2 epochs. Returns the training loss of each."""
    command = [sys.executable, *launcher, "train.py", "--epochs", "2", "--output-dir", str(folder)]
    log = subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert (folder / "model.safetensors").exists()
    return [float(loss) for loss in re.findall(r"train_loss (\S+)", log)]


def test_training_on_one_process(tmp_path):
    first, second = run(tmp_path)
    assert second < first


def test_training_on_two_processes(tmp_path):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    first, second = run(tmp_path, *launcher)
    assert second < first
