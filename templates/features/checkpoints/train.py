import sys

from checkpoint import Checkpoints
from config import find_checkpoints

#: slot checkpoints

#: slot before_progress without stream
samples = tuple(len(loader.dataset) for loader in (train_loader, val_loader, test_loader))

#: slot progress without stream
, samples

#: slot skip_batches
if progress.batch:  # resumed within an epoch
    batches = accelerator.skip_first_batches(train_loader, progress.batch)

#: slot save_in_epoch
if config.checkpoint_unit == "steps" and save_every and progress.step % save_every == 0:
    checkpoints.save()

#: slot save_in_epoch when checkpoint_unit=minutes
looks_at_clock = progress.step % (config.log_every or 1) == 0
if config.checkpoint_unit == "minutes" and looks_at_clock and checkpoints.is_time():
    checkpoints.save()

#: slot leave_epoch_early
checkpoints.save()  # a resumed run may finish it

#: slot save_after_epoch
if config.checkpoint_unit == "epochs" and save_every and progress.epoch % save_every == 0:
    checkpoints.save()

#: slot save_after_training
checkpoints.save()

#: slot after_save
write_config(accelerator, config, config.output_dir)  # the settings of these weights

#: replace write_config
if not config.resume:  # a resumed run writes it at the end
    write_config(accelerator, config, config.output_dir)

#: wrap start
try:
    ...  #: body
except KeyboardInterrupt:
    saved = find_checkpoints(config.output_dir)
    log(f"Interrupted. Saved: {saved[-1] if saved else 'nothing'}")
    sys.exit(130)
