import torch
from torch import nn

#: slot classes
def synchronize_batch_norm(model: nn.Module, device: torch.device) -> nn.Module:
    """Replace BatchNorm with SyncBatchNorm. On the CPU, which lacks it, nothing changes.

    Call it before prepare(): DistributedDataParallel would not see the new layers.
    """
    return model if device.type == "cpu" else nn.SyncBatchNorm.convert_sync_batchnorm(model)
