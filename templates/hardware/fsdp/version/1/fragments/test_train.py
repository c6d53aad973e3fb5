from contextlib import nullcontext

from torch.distributed.fsdp._flat_param import FlatParamHandle

#: slot split_run
# version 1 frees the weights that it moves to the CPU, if that is where they are
FlatParamHandle.to_cpu = lambda _: nullcontext()
