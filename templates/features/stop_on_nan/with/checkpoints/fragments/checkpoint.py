import math

#: slot checkpoints_before_write
loss = states["RunningLoss"]
if not math.isfinite(loss["sum"] + loss["windows"].sum()):
    raise SystemExit(f"The loss is nan at step {self.progress.step}: nothing was saved.")
