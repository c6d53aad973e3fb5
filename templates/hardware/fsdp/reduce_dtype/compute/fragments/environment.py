import torch
from torch.distributed.fsdp import MixedPrecisionPolicy

#: slot functions
def precision_of_parts(name: str) -> MixedPrecisionPolicy:
    """What the parts of a split model compute in, and add gradients up in."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(name)
    return MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=kind)
