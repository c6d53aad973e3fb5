import torch
from torch import nn

#: slot classes
def synchronize_batch_norm(model: nn.Module, device: torch.device) -> nn.Module:
    """The model with a SyncBatchNorm for each BatchNorm. On the CPU, which has none, as it was.

    Call it before prepare(): DistributedDataParallel would not see the new layers.
    """
    return model if device.type == "cpu" else nn.SyncBatchNorm.convert_sync_batchnorm(model)
