from accelerate import DistributedDataParallelKwargs
from callbacks import unfreeze

#: slot handlers
# frozen layers have no gradient to exchange
DistributedDataParallelKwargs(find_unused_parameters=True),

#: slot start_of_epoch
unfreeze(optimizer, epoch // config.unfreezing_epochs)
