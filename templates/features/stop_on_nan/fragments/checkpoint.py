import math

#: slot checkpoints_before_write
if not all(map(math.isfinite, states["train_loss"]["unread"])):  # those of all processes
    update = self.progress.update
    raise SystemExit(f"The loss is nan at update {update}: this is not saved.")
