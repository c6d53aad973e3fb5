from accelerate import DistributedDataParallelKwargs

from callbacks import unfreeze

#: slot handlers
#: region frozen
# frozen layers have no gradient to exchange
DistributedDataParallelKwargs(find_unused_parameters=True),
#: end frozen

#: slot start_of_epoch
unfreeze(optimizer, epoch // config.unfreezing_epochs)
