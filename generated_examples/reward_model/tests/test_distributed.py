"""Two processes train and evaluate like one with twice the batch size."""

import json
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file

import train
from helpers import build_exact_model, build_sgd, column, launch, run
from test_evaluation import evaluate_sizes


def test_two_processes_are_one_with_twice_the_batch(tmp_path, capsys):
    exact_run(tmp_path / "1", batch_size=32)
    one_log, two_log = capsys.readouterr().out, launch(exact_run, tmp_path / "2").stdout
    one, two = (json.loads((tmp_path / name / "facts.json").read_text()) for name in "12")
    assert (one["processes"], two["processes"]) == (1, 2)

    for size, expected in one["whole"].items():
        for name, value in expected.items():
            message = f"{name} of {size} samples differs on 2 processes: gather, drop padding"
            assert two["batched"][size][name] == pytest.approx(value, rel=1e-5, abs=1e-5), message
    seeds = {(tmp_path / "2" / name).read_text() for name in ("seed0", "seed1")}
    assert len(seeds) == 2, "all processes have the same dropout: set device_specific=True"
    assert column(one_log, "lr") == column(two_log, "lr"), "the schedule depends on num_processes"
    for name, weights in load_file(tmp_path / "1" / "model.safetensors").items():
        others = load_file(tmp_path / "2" / "model.safetensors")[name]
        message = f"{name} differs between 2 processes and one with twice the batch size"
        torch.testing.assert_close(others, weights, rtol=0, atol=1e-5, msg=message)


def exact_run(folder: Path, batch_size: int = 16) -> None:
    """Evaluate, then train without randomness."""
    accelerator = Accelerator()
    facts = {"processes": accelerator.num_processes, **evaluate_sizes(accelerator, (1, 7, 33))}
    accelerator.free_memory()
    if accelerator.is_main_process:
        folder.mkdir()
        (folder / "facts.json").write_text(json.dumps(facts))
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(folder, epochs=1, batch_size=batch_size, learning_rate=0.03)
    (folder / f"seed{accelerator.process_index}").write_text(str(torch.initial_seed()))
