import math

#: slot checkpoints_before_write
if not math.isfinite(states["RunningLoss"]["sum"]):
    raise SystemExit(f"The loss is nan at step {self.progress.step}: nothing was saved.")
