from accelerate import DistributedType
from workarounds import name_datasets, seed_batches

#: slot after_prepare
name_datasets(train_loader, val_loader, test_loader)

#: slot skip_batches
if accelerator.distributed_type == DistributedType.XLA:
    batches = seed_batches(batches, progress)
