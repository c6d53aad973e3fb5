from unittest import mock

import pytest
import torch
from safetensors.torch import load_file

import train
from helpers import build_exact_model, build_sgd, run

#: into tests/helpers.py
#: replace settings_batches
"limit_batches": 13,  # 6 windows of 2 batches; the last batch is left out
"gradient_accumulation_steps": 2,

#: into tests/test_features.py
#: replace one_batch with tokens
changes = {
    "epochs": 1,
    "limit_batches": 1,
    "num_workers": 0,
    "gradient_accumulation_steps": 1,
}

#: slot tests
#: region gradient_accumulation
@pytest.mark.parametrize("batches", [4, 6], ids=["whole window", "two batches left out"])
def test_a_window_is_one_large_batch(tmp_path, batches):
    """4 batches of 8 make the same step as a batch of 32. An epoch has only whole windows."""
    #: region window_rate
    changes = {"epochs": 1, "learning_rate": 0.01}
    #: end window_rate
    small = {"batch_size": 8, "gradient_accumulation_steps": 4, "limit_batches": batches}
    large = {"batch_size": 32, "gradient_accumulation_steps": 1, "limit_batches": 1}
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(tmp_path / "small", **changes, **small)
        run(tmp_path / "large", **changes, **large)
    window = load_file(tmp_path / "small" / "model.safetensors")
    for name, weights in load_file(tmp_path / "large" / "model.safetensors").items():
        message = f"{name}: divide by the samples of the window"
        torch.testing.assert_close(window[name], weights, rtol=0, atol=1e-5, msg=message)
#: end gradient_accumulation

#: replace gradient_accumulation when self_supervised.method=simclr
@pytest.mark.parametrize("batches", [4, 6], ids=["whole window", "two batches left out"])
def test_a_window_is_one_large_batch(tmp_path, batches):
    """4 batches of 8 make the same step as one of 32 whose images only compete within their 8."""
    changes = {"epochs": 1, "learning_rate": 0.03}
    small = {"batch_size": 8, "gradient_accumulation_steps": 4, "limit_batches": batches}
    large = {"batch_size": 32, "gradient_accumulation_steps": 1, "limit_batches": 1}
    compute = train.compute_loss

    def compute_by_batches(vectors, accelerator):
        return torch.cat([compute(part, accelerator) for part in vectors.split(8)])

    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(tmp_path / "small", **changes, **small)
        with mock.patch.object(train, "compute_loss", compute_by_batches):
            run(tmp_path / "large", **changes, **large)
    window = load_file(tmp_path / "small" / "model.safetensors")
    for name, weights in load_file(tmp_path / "large" / "model.safetensors").items():
        message = f"{name}: divide by the samples of the window"
        torch.testing.assert_close(window[name], weights, rtol=0, atol=1e-5, msg=message)
