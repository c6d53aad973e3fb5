from accelerate.utils import DistributedType

#: replace parameters
# in stage 3 a parameter holds only its part
sizes = (getattr(weight, "ds_numel", weight.numel()) for weight in model.parameters())
parameters = sum(sizes)
deepspeed = accelerator.distributed_type == DistributedType.DEEPSPEED
#: slot described
f"DeepSpeed {'on' if deepspeed else 'off'} | "
