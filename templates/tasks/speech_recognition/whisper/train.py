#: when model=whisper
from torch.distributed.fsdp import register_fsdp_forward_method

#: replace written with deepspeed
# all processes gather the weights together, so each continues until the longest text ends
written = unwrapped.write(sounds, synced_gpus=True)

#: slot after_prepare with fsdp
register_fsdp_forward_method(model, "write")  # it gathers weights, too

#: replace written with fsdp
# all processes gather the weights together, so each continues until the longest text ends
written = unwrapped.write(sounds, synced_gpus=True)
