import os

import torch

from config import arrange_processes

#: slot tests
def test_devices_share_the_model_and_the_cpu_does_not(monkeypatch):
    """Also where accelerate launch passes on the mesh of accelerate.yaml."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "false")
    monkeypatch.setenv("ACCELERATE_USE_PARALLELISM_CONFIG", "true")
    monkeypatch.delenv("ACCELERATE_TORCH_DEVICE", raising=False)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    assert arrange_processes(dp_shard_size=2).dp_shard_size == 2
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    assert arrange_processes(dp_shard_size=2) is None
    assert "ACCELERATE_USE_PARALLELISM_CONFIG" not in os.environ, "Accelerate would make a mesh"

#: slot split_run
train.arrange_processes = lambda **directions: None  # two processes are too few for the grid
