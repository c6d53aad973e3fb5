import time

#: slot checkpoints_setup
self.saved_at = time.monotonic()

#: slot checkpoints_if_due
timed = every and (unit, self.config.checkpoint_unit) == ("steps", "minutes")
if timed and count % (self.config.log_every or 1) == 0:
    due = time.monotonic() - self.saved_at >= 60 * every
    if broadcast_object_list([due])[0]:  # the main process decides, because clocks differ
        self.save()

#: slot checkpoints_saved
self.saved_at = time.monotonic()
