#: file with checkpoints
"""Loads a DeepSpeed checkpoint without executing code in it.

DeepSpeed 0.19 unpickles its files, which can run any code. Delete this when its
TorchCheckpointEngine.load() passes weights_only=True.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType


@contextmanager
def only_data(accelerator: Accelerator) -> Iterator[None]:
    """Restrict torch.load() to data and the classes that DeepSpeed saves."""
    if accelerator.distributed_type != DistributedType.DEEPSPEED:
        yield
        return
    # takes seconds to import
    from deepspeed.runtime.fp16.loss_scaler import DynamicLossScaler, LossScaler
    from deepspeed.runtime.zero.config import ZeroStageEnum
    from deepspeed.utils.tensor_fragment import fragment_address

    setting = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
    before = os.environ.get(setting, "0")
    os.environ[setting] = "1"
    kinds = [DynamicLossScaler, LossScaler, ZeroStageEnum, fragment_address]
    try:
        with torch.serialization.safe_globals(kinds):
            yield
    finally:
        os.environ[setting] = before
