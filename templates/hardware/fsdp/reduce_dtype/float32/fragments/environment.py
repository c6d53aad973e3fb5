import torch
from torch.distributed.fsdp import MixedPrecisionPolicy

#: slot functions
def precision_of_parts(name: str) -> MixedPrecisionPolicy:
    """The precision in which a sharded model computes. Gradients are reduced in 32 bits."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(name)
    return MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=torch.float32)
