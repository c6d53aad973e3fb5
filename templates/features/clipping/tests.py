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
def weights_after(folder: Path, rate: float, **limit) -> torch.Tensor:
    """The weights after one step of `rate` times the gradient."""
    #: region clipping
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        #: region rate
        run(folder, epochs=1, max_steps=1, learning_rate=rate, **limit)
        #: end rate
    #: end clipping
    tensors = load_file(folder / "model.safetensors")
    return torch.cat([tensor.flatten() for tensor in tensors.values()])

#: slot tests when kind=norm
def test_clips_the_gradient_of_the_whole_step(tmp_path):
    """A clipped step has the direction of the unclipped step, scaled down to the limit."""
    start = weights_after(tmp_path / "start", 1e-12)
    gradient = weights_after(tmp_path / "free", 1.0) - start
    norm = float(gradient.norm())
    limit = min(0.01, norm / 2)
    clipped = weights_after(tmp_path / "clipped", 1.0, max_grad_norm=limit)
    expected = start + gradient * limit / norm
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)

#: slot tests when kind=value
def test_clips_the_gradient_of_the_whole_step(tmp_path):
    """No element of a clipped step exceeds the limit, and smaller ones stay unchanged."""
    start = weights_after(tmp_path / "start", 1e-12)
    gradient = weights_after(tmp_path / "free", 1.0) - start
    limit = min(1e-3, float(gradient.abs().max()) / 2)
    clipped = weights_after(tmp_path / "clipped", 1.0, max_grad_value=limit)
    expected = start + gradient.clamp(-limit, limit)
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
    start = weights_after(tmp_path / "start", 1e-12)
    gradient = weights_after(tmp_path / "free", 1.0) - start
    assert gradient.norm() > 0, "the rate of the first step is zero"
    clipped = weights_after(tmp_path / "clipped", 1.0, max_grad_ratio=1e-6)
    message = "clip once, after the last backward"
    assert (clipped - start).norm() < 1e-2 * gradient.norm(), message
