from accelerate.utils import DistributedType

#: slot described
f"model {'split' if accelerator.distributed_type == DistributedType.FSDP else 'whole'} | "
