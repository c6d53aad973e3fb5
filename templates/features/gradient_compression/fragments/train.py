from accelerate import DistributedDataParallelKwargs
from accelerate.utils import DDPCommunicationHookType
from environment import check_compression

#: slot handlers
DistributedDataParallelKwargs(
    comm_hook=DDPCommunicationHookType(config.gradient_compression)
),

#: slot after_environment
check_compression(accelerator, config.gradient_compression)
