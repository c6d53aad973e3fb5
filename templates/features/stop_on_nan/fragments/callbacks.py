import math

from checkpoint import Progress

#: slot classes
def stop_on_nan(loss: float, progress: Progress) -> None:
    """Stop before such weights are evaluated or saved; the loss is the same on all processes."""
    if not math.isfinite(loss):
        raise SystemExit(
            f"The loss is {loss} at update {progress.update}: take a lower learning rate, or look "
            "at the data. The checkpoints are from before."
        )
