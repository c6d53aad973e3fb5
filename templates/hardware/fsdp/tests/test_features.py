import json
import os
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import PartialState
from accelerate.utils import DistributedType
from safetensors.torch import load_file, save_file
from torch import nn
from torch.distributed.fsdp._flat_param import FlatParamHandle

import train
from config import find_checkpoints
from helpers import build_exact_model, build_sgd, launch, run
from test_resume import assert_same_file
from weights import read_weights

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

#: slot split_run when version=1
# version 1 frees weights after it has moved them to the CPU, even if they were there before
FlatParamHandle.to_cpu = lambda _: nullcontext()

#: slot tests with best_model
def test_only_shared_weights_may_be_missing(tmp_path):
    """A weight that two layers share is saved once. Any other missing weight is an error."""
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    save_file({"0.weight": model[0].weight.detach()}, tmp_path / "weights")
    with pytest.raises(RuntimeError, match='Missing key.*"1.weight"'):
        model.load_state_dict(read_weights(tmp_path / "weights", model))
    model[1].weight = model[0].weight
    model.load_state_dict(read_weights(tmp_path / "weights", model))

#: slot tests with checkpoints
def test_a_split_model_resumes_exactly(tmp_path):
    for _ in ("from the start", "from its first checkpoint"):
        assert not launch(saved_split_run, tmp_path).returncode
    assert_same_file(tmp_path / "whole/model.safetensors", tmp_path / "resumed/model.safetensors")
    first = find_checkpoints(tmp_path / "whole")[0]
    *_, part = sorted(first.rglob("*"), key=lambda path: len(path.parts))
    digests = json.loads((first / "digests.json").read_text())
    assert str(part.relative_to(first)) in digests, "a part that nobody would miss"


def saved_split_run(folder: Path) -> None:
    """Train with a checkpoint after every second step, or resume the first one."""
    cadence = {"checkpoint_unit": "steps", "checkpoint_every": 2}
    if found := find_checkpoints(folder / "whole"):
        split_run(folder / "resumed", resume=str(found[0]), **cadence)
    else:
        split_run(folder / "whole", **cadence)
