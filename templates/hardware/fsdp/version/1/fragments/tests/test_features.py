from contextlib import nullcontext
from torch.distributed.fsdp._flat_param import FlatParamHandle

#: slot split_run
# version 1 frees weights after it has moved them to the CPU, even if they were there before
FlatParamHandle.to_cpu = lambda _: nullcontext()
