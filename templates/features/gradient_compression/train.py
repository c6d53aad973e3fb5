from accelerate import DistributedDataParallelKwargs
from accelerate.utils import DDPCommunicationHookType

from config import check_compression

#: slot after_environment
check_compression(accelerator, config.gradient_compression)

#: replace frozen with unfreezing
# frozen layers have no gradient to exchange
DistributedDataParallelKwargs(
    find_unused_parameters=True,
    comm_hook=DDPCommunicationHookType(config.gradient_compression),
),

#: slot handlers without unfreezing
DistributedDataParallelKwargs(
    comm_hook=DDPCommunicationHookType(config.gradient_compression)
),
