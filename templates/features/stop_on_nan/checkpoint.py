import math

#: slot checkpoints_before_write
loss = states["train_loss"]
if not math.isfinite(loss["sum"] + loss["sums"].sum()):
    raise SystemExit(f"The loss is nan at step {self.progress.step}: nothing was saved.")
