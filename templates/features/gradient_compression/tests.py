import os
from pathlib import Path
from unittest import mock

import torch

import train
from helpers import build_sgd, launch, run

#: into tests/helpers.py
#: slot settings
"gradient_compression": "no",  # rounding would hide differences between runs

#: into tests/test_features.py
#: slot tests
def test_gradients_are_exchanged_in_16_bits(tmp_path):
    """The optimizer gets the same gradients on both processes, rounded to 16 bits."""
    launch(compressed_run, tmp_path)
    one, two = (torch.load(tmp_path / f"gradient{rank}.pt") for rank in (0, 1))
    assert torch.equal(one, two)
    assert torch.equal(one, one.half().float()), "these gradients are not compressed"


def compressed_run(folder: Path) -> None:
    """Note the gradients of the last step."""

    def build_noting(model, config) -> torch.optim.Optimizer:
        def note(*step) -> None:
            gradients = [weight.grad.flatten() for weight in model.parameters()]
            torch.save(torch.cat(gradients), folder / f"gradient{os.environ['RANK']}.pt")

        optimizer = build_sgd(model, config)
        optimizer.register_step_pre_hook(note)
        return optimizer

    with mock.patch.object(train, "build_optimizer", build_noting):
        run(folder, epochs=1, gradient_compression="fp16")


def test_processes_on_the_cpu_refuse_bf16(tmp_path):
    launch(refused_run, tmp_path)
    assert "--gradient-compression fp16" in (tmp_path / "stopped0").read_text()


def refused_run(folder: Path) -> None:
    run(folder, gradient_compression="bf16")
