from accelerate.utils import DistributedType

#: replace parameters
# in stage 3, each process holds only a part of a parameter
sizes = (getattr(weight, "ds_numel", weight.numel()) for weight in model.parameters())
parameters = sum(sizes)
deepspeed = accelerator.distributed_type == DistributedType.DEEPSPEED

#: slot described
f"DeepSpeed {'on' if deepspeed else 'off'} | "
