from pathlib import Path
from unittest import mock

import torch
from safetensors.torch import load_file
from torch import nn

import train
from callbacks import clip_adaptively
from helpers import build_exact_model, build_sgd, run

#: into tests/helpers.py
#: slot settings when kind=norm
"max_grad_norm": 0.0,

#: slot settings when kind=value
"max_grad_value": 0.0,

#: slot settings when kind=adaptive
"max_grad_ratio": 0.0,

#: into tests/test_features.py
#: slot tests
#: region clipping
def first_steps(folder: Path, **limit) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The weights before training, and after one step with a rate of 1, unclipped and clipped."""
    changes = {
        "start": {"learning_rate": 1e-12},
        #: region rates
        "free": {"learning_rate": 1.0},
        "clipped": {"learning_rate": 1.0, **limit},
        #: end rates
    }
    weights = []
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        for name, change in changes.items():
            run(folder / name, epochs=1, max_steps=1, **change)
            tensors = load_file(folder / name / "model.safetensors")
            weights.append(torch.cat([tensor.flatten() for tensor in tensors.values()]))
    return tuple(weights)
#: end clipping

#: slot tests when kind=norm
def test_clips_the_gradient_of_the_whole_step(tmp_path):
    """A clipped step has the direction of the unclipped step, scaled down to the limit."""
    start, free, clipped = first_steps(tmp_path, max_grad_norm=0.01)
    expected = start + (free - start) * 0.01 / (free - start).norm()
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)

#: slot tests when kind=value
def test_clips_the_gradient_of_the_whole_step(tmp_path):
    """No element of a clipped step exceeds the limit, and smaller ones stay unchanged."""
    start, free, clipped = first_steps(tmp_path, max_grad_value=1e-3)
    limit = 1e-3
    assert (free - start).abs().max() > limit, "nothing here would be clipped"
    expected = start + (free - start).clamp(-limit, limit)
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)

#: slot tests when kind=adaptive
def test_clips_each_unit_beside_its_weights():
    matrix, vector = nn.Parameter(torch.tensor([[3.0, 4.0], [6.0, 8.0]])), nn.Parameter(
        torch.zeros(2)
    )
    matrix.grad = torch.tensor([[0.0, 2.0], [0.3, 0.4]])
    vector.grad = torch.tensor([0.3, 0.4])
    clip_adaptively([matrix, vector], 0.1)
    # the norms of the rows are 5 and 10: 0.5 and 1.0 are allowed
    torch.testing.assert_close(matrix.grad, torch.tensor([[0.0, 0.5], [0.3, 0.4]]))
    # weights of zero count as 0.001: a norm of 0.0001 is allowed
    torch.testing.assert_close(vector.grad, torch.tensor([0.00006, 0.00008]))


def test_clips_the_gradient_of_the_whole_step(tmp_path):
    start, free, clipped = first_steps(tmp_path, max_grad_ratio=1e-6)
    assert (free - start).norm() > 0, "the rate of the first step is zero"
    message = "clip once, after the last backward"
    assert (clipped - start).norm() < 1e-2 * (free - start).norm(), message
