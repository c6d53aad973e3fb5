import os

import torch

from helpers import run

#: slot tests
def test_algorithms_are_deterministic(tmp_path):
    torch.use_deterministic_algorithms(False)
    run(tmp_path, epochs=1, max_steps=1)
    assert torch.are_deterministic_algorithms_enabled()
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] in (":4096:8", ":16:8")
