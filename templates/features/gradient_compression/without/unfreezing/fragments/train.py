from accelerate import DistributedDataParallelKwargs
from accelerate.utils import DDPCommunicationHookType

#: slot handlers
DistributedDataParallelKwargs(
    comm_hook=DDPCommunicationHookType(config.gradient_compression)
),
