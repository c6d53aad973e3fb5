import os
from pathlib import Path
from unittest import mock
import pytest
import torch
import train
from accelerate import PartialState
from accelerate.utils import DistributedType
from safetensors.torch import load_file
from helpers import run, launch, build_exact_model, build_sgd

#: slot tests
def test_a_split_model_learns_like_a_whole_one(tmp_path, capsys):
    """Two processes with a sharded model train like one process with twice the batch size."""
    whole, split = tmp_path / "whole", tmp_path / "split"
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(whole, epochs=1, learning_rate=0.03, {{ [("batch_size", 32, 0), ("eval_batch_size", training.eval_batch_size and 128, 0)] | arguments }})
    done = results(capsys.readouterr().out)
    log = launch(split_run, split).stdout
    assert "2 process(es) on cpu | model split" in log
    assert results(log) == pytest.approx(done, abs=2e-4), "the sharded model has different metrics"
    for name, weights in load_file(whole / "model.safetensors").items():
        message = f"{name} differs from the unsharded model"
        others = load_file(split / "model.safetensors")[name]
        torch.testing.assert_close(others, weights, rtol=0, atol=3e-5, msg=message)


def split_run(folder: Path, **changes) -> None:
    """Train a split model on the CPU."""
    # Accelerate shards models only on GPUs, so pretend that these processes have them
    state = PartialState(cpu=True)
    state.distributed_type, state.device = DistributedType.MULTI_GPU, torch.device("cpu")
    os.environ["ACCELERATE_USE_CPU"] = "false"
    #: slot split_run
    no_gpu = mock.patch.object(torch._C, "_get_accelerator", lambda *_: torch.device("cpu"))
    exact = mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd)
    with no_gpu, exact:
        run(folder, epochs=1, learning_rate=0.03, **changes)


def results(log: str) -> list[float]:
    """The metrics of the test."""
    line = next(line for line in log.splitlines() if line.startswith("done"))
    return [float(part.split()[-1]) for part in line.split(" | ")[1:]]
