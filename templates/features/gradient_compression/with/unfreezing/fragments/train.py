from accelerate.utils import DDPCommunicationHookType

#: replace frozen
# frozen layers have no gradient to exchange
DistributedDataParallelKwargs(
    find_unused_parameters=True,
    comm_hook=DDPCommunicationHookType(config.gradient_compression),
),
