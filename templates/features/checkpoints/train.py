from checkpoint import Checkpoints, newest_checkpoint

#: slot fields
resume: str = ""  # checkpoint or folder to resume; without a value: the newest

#: slot checkpoints

#: slot skip_batches
if progress.batch:  # resumed within an epoch
    batches = accelerator.skip_first_batches(train_loader, progress.batch)

#: slot save_in_epoch
checkpoints.save_if_due("steps", progress.step)

#: slot save_after_epoch
checkpoints.save_if_due("epochs", progress.epoch)

#: slot save_after_training
checkpoints.save()

#: wrap start
try:
    ...  #: body
except KeyboardInterrupt:
    raise SystemExit(f"Interrupted. Saved: {newest_checkpoint(config.output_dir)}") from None
