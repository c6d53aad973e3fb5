import json
import os
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate.utils import find_batch_size
from safetensors.torch import load_file
from torch import nn

import train
from helpers import build_exact_model, build_sgd, launch, run
from micro_batches import MicroBatches

#: slot tests
def test_parts_make_the_step_of_the_whole_batch(tmp_path, capsys):
    """With memory for 4 of 16 samples, a step is the same as with memory for all of them."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(tmp_path / "whole", epochs=1, learning_rate=0.03)
    assert "out of memory" not in capsys.readouterr().out
    small_run(tmp_path / "parts")
    assert "out of memory: each batch is computed in 4 parts" in capsys.readouterr().out
    same = load_file(tmp_path / "whole" / "model.safetensors")
    parts = load_file(tmp_path / "parts" / "model.safetensors")
    for name, weights in parts.items():
        torch.testing.assert_close(weights, same[name], rtol=0, atol=1e-5)
    assert (tmp_path / "parts/parts0").read_text() == "4"


def test_processes_agree_on_the_parts(tmp_path):
    """Only the last process runs out of memory."""
    log = launch(small_run, tmp_path).stdout
    assert "out of memory: each batch is computed in 4 parts" in log
    assert [(tmp_path / f"parts{rank}").read_text() for rank in (0, 1)] == ["4", "4"]
    weights = [(tmp_path / f"weights{rank}").read_text() for rank in (0, 1)]
    assert weights[0] == weights[1], "the weights differ: exchange the gradients"


def test_one_sample_has_to_fit(tmp_path):
    with pytest.raises(SystemExit, match="Not even one sample fits"):
        small_run(tmp_path, memory=0)


def small_run(folder: Path, memory: int = 4) -> None:
    """Train where the last process has memory for `memory` samples."""
    rank, processes = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    created = {}

    def build_limited(config) -> nn.Module:
        def run_out(module, args, kwargs) -> None:
            last = rank == processes - 1
            #: region samples
            samples = find_batch_size([*args, *kwargs.values()])
            #: end samples
            if last and module.training and samples > memory:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate all of it.")

        model = created["model"] = build_exact_model(config)
        # such as BatchNorm has: processes may wait for those of others before they compute
        model.register_buffer("seen", torch.zeros(()), persistent=False)
        model.register_forward_pre_hook(run_out, with_kwargs=True)
        return model

    def create(*given) -> MicroBatches:
        created["parts"] = MicroBatches(*given)
        return created["parts"]

    fakes = {"build_model": build_limited, "build_optimizer": build_sgd, "MicroBatches": create}
    with mock.patch.multiple(train, **fakes):
        run(folder, epochs=1, learning_rate=0.03)
    weights = [float(weight.detach().double().sum()) for weight in created["model"].parameters()]
    (folder / f"weights{rank}").write_text(json.dumps(weights))
    (folder / f"parts{rank}").write_text(json.dumps(created["parts"].parts))
