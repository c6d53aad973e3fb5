from accelerate.utils import DistributedType

#: replace processes
f"{accelerator.num_processes} process(es) on {accelerator.device.type} | "
f"model {'split' if accelerator.distributed_type == DistributedType.FSDP else 'whole'} | "
