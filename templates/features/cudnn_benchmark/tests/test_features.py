import torch

from helpers import run

#: slot tests
def test_cudnn_benchmark_is_on(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    run(tmp_path, epochs=1, max_steps=1)
    assert torch.backends.cudnn.benchmark
