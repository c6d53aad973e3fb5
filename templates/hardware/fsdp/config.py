import torch
from accelerate.utils import DistributedType
from torch.distributed.fsdp import MixedPrecisionPolicy

#: slot described
f"model {'split' if accelerator.distributed_type == DistributedType.FSDP else 'whole'} | "

#: slot functions when reduce_dtype=float32
def precision_of_parts(name: str) -> MixedPrecisionPolicy:
    """The precision in which a sharded model computes. Gradients are reduced in 32 bits."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(name)
    return MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=torch.float32)

#: slot functions when reduce_dtype=compute
def precision_of_parts(name: str) -> MixedPrecisionPolicy:
    """The precision in which a sharded model computes and reduces gradients."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(name)
    return MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=kind)
