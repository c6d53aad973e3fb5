"""Short runs of train.py for the tests, on one process or on two."""

import os
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from unittest import mock

import pytest
from torch import nn, optim
from torch.utils.data import Dataset, Subset

import data
import train
from model import build_model

# 2 epochs of 6 steps
SETTINGS = {
    "epochs": 2,
    "limit_batches": 6,
    "batch_size": 16,
    "max_steps": 0,
    "log_every": 1,
    "keep_checkpoints": 0,
    "max_grad_norm": 0.0,
}


def run(folder: Path, **changes) -> Path:
    """Train in this process, starting with a model in evaluation mode. Returns the folder."""
    build = train.build_model
    patch = mock.patch.object(train, "build_model", lambda config: build(config).eval())
    with patch, enough_data():
        train.main(train.Config(output_dir=folder, **{**SETTINGS, **changes}))
    return folder


def enough_data():
    """A patch that repeats the training data if there is too little for the tests."""
    build = getattr(data, "build_datasets", None)
    size = 2 * SETTINGS["batch_size"] * SETTINGS["limit_batches"]  # on 2 processes

    def build_enough(config) -> list[Dataset]:
        train_set, *others = build(config)
        if len(train_set) < size:
            train_set = Subset(train_set, [index % len(train_set) for index in range(size)])
        return [train_set, *others]

    return mock.patch.object(data, "build_datasets", build_enough, create=True)


def launch(function, folder: Path) -> subprocess.CompletedProcess:
    """Call a function of a test file on 2 processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += [__file__, function.__module__, function.__name__, str(folder)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.terminate()  # the launcher ends its processes
        process.communicate()
        pytest.fail("the processes wait for each other: one of them left the loop early")
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def call(function, folder: Path) -> None:
    """Call a function on one of 2 processes. If it exits, write the reason to a file."""
    try:
        function(folder)
    except SystemExit as stop:
        (folder / f"stopped{os.environ['RANK']}").write_text(str(stop))
        for _ in range(100):  # the launcher ends both as soon as one has ended
            if len(list(folder.glob("stopped*"))) < 2:
                time.sleep(0.1)
        raise


def column(log: str, name: str) -> list[str]:
    """The values after a name in the log lines of steps."""
    lines = [line for line in log.splitlines() if line.startswith("step")]
    return [line.split(f"{name} ")[1].split()[0] for line in lines]


def without_times(log: str) -> str:
    return re.sub(r" \| s/step [\d.e-]+", "", log)


def build_exact_model(config) -> nn.Module:
    """The model without dropout, and with batch norm that does not depend on the batch."""
    model = build_model(config)
    for module in model.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.p = 0.0
        for name, value in vars(module).items():
            if "drop" in name and isinstance(value, float):  # for torch.nn.functional.dropout
                setattr(module, name, 0.0)
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.eval()
            module.running_var.mul_(2)  # else the outputs of deep residual networks explode
            module.train = lambda mode=True, module=module: module
    return model


def build_sgd(model: nn.Module, config) -> optim.Optimizer:
    """Plain SGD: an adaptive optimizer can turn a rounding error into a whole step."""
    # the steepest places of this loss need smaller steps
    return optim.SGD(model.parameters(), config.learning_rate / 30)


def take(loader, size: int) -> Dataset:
    """The first samples of a loader's data, repeated if there are fewer."""
    samples = loader.dataset
    return Subset(samples, [index % len(samples) for index in range(size)])


if __name__ == "__main__":
    call(getattr(import_module(sys.argv[1]), sys.argv[2]), Path(sys.argv[3]))
