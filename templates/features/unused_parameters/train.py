from accelerate import DistributedDataParallelKwargs

#: slot handlers
# some weights may get no gradient in a step
DistributedDataParallelKwargs(find_unused_parameters=True),
