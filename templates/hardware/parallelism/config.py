import os

import torch
from accelerate import ParallelismConfig
from accelerate.utils import parse_flag_from_env

#: slot functions
def arrange_processes(**directions) -> ParallelismConfig | None:
    """The device mesh, or None on one process or on the CPU."""
    alone = os.environ.get("WORLD_SIZE", "1") == "1"
    device = torch.accelerator.is_available() or "ACCELERATE_TORCH_DEVICE" in os.environ
    if alone or not device or parse_flag_from_env("ACCELERATE_USE_CPU"):
        os.environ.pop("ACCELERATE_USE_PARALLELISM_CONFIG", None)  # of accelerate.yaml
        return None
    return ParallelismConfig(**directions)
