import json
import os
from pathlib import Path
from unittest import mock

import pytest
import torch
import train
from accelerate.utils import find_batch_size
from safetensors.torch import load_file
from torch import nn

#: slot tests
def test_parts_make_the_update_of_the_whole_batch(tmp_path, capsys):
    """More than 4 samples of 16 run out of memory, on 2 processes on the last of them alone."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(tmp_path / "whole", epochs=1, learning_rate=0.03)
    assert "out of memory" not in capsys.readouterr().out
    small_run(tmp_path / "parts")
    assert "out of memory: batches in 4 parts" in capsys.readouterr().out
    same = load_file(tmp_path / "whole" / "model.safetensors")
    parts = load_file(tmp_path / "parts" / "model.safetensors")
    for name, weights in parts.items():
        torch.testing.assert_close(weights, same[name], rtol=0, atol=1e-5)
    assert (tmp_path / "parts/parts0").read_text() == "4"


def test_processes_agree_on_the_parts(tmp_path):
    log = launch(small_run, tmp_path).stdout
    assert "out of memory: batches in 4 parts" in log, "the process that ran out is the last one"
    assert [(tmp_path / f"parts{rank}").read_text() for rank in (0, 1)] == ["4", "4"]
    weights = [(tmp_path / f"weights{rank}").read_text() for rank in (0, 1)]
    assert weights[0] == weights[1], "each process went its own way: exchange the gradients"


def test_one_sample_has_to_fit(tmp_path):
    with pytest.raises(SystemExit, match="Not even one sample fits"):
        small_run(tmp_path, memory=0)


def small_run(folder: Path, memory: int = 4) -> None:
    """Train where the last process has memory for so many samples."""
    found = {}

    def build_limited(config) -> nn.Module:
        def run_out(module, args, kwargs) -> None:
            last = int(os.environ.get("RANK", "0")) == int(os.environ.get("WORLD_SIZE", "1")) - 1
            if last and module.training and find_batch_size([*args, *kwargs.values()]) > memory:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate all of it.")

        model = build_exact_model(config)
        # such as BatchNorm has: processes may wait for those of others before they compute
        model.register_buffer("seen", torch.zeros(()), persistent=False)
        model.register_forward_pre_hook(run_out, with_kwargs=True)
        return model

    def look(checkpoints) -> None:
        weights = checkpoints.accelerator._models[0].parameters()
        found["weights"] = [float(weight.detach().double().sum()) for weight in weights]
        found["parts"] = checkpoints.states["micro_batches"].parts

    fakes = {"build_model": build_limited, "build_optimizer": build_sgd}
    with (
        mock.patch.multiple(train, **fakes),
        mock.patch.object(train.Checkpoints, "after_epoch", look),
    ):
        run(folder, epochs=1, learning_rate=0.03)
    rank = os.environ.get("RANK", "0")
    for name, value in found.items():
        (folder / f"{name}{rank}").write_text(json.dumps(value))
