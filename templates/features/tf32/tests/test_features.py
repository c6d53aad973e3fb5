import torch

from helpers import run

#: slot tests
def test_tf32_is_allowed(tmp_path):
    torch.set_float32_matmul_precision("highest")
    run(tmp_path, epochs=1, max_steps=1)
    assert torch.get_float32_matmul_precision() == "high"
