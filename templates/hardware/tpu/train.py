from accelerate import DistributedType

from workarounds import name_datasets, seed_batches

#: slot functions_at_end
def start_training() -> None:
    """Called by `accelerate launch` on each TPU core."""
    main(parse_config(__doc__))

#: replace start
start_training()

#: slot after_prepare with checkpoints
name_datasets(train_loader, val_loader, test_loader)

#: slot skip_batches with checkpoints
if accelerator.distributed_type == DistributedType.XLA:
    batches = seed_batches(batches, progress)

#: slot setup with checkpoints with evaluation_sets
name_datasets(*more_loaders.values())
