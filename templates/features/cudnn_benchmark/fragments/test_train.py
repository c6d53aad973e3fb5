import torch

#: slot tests
def test_cudnn_measures_its_algorithms(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    run(tmp_path, epochs=1, max_steps=1)
    assert torch.backends.cudnn.benchmark
