import math

#: slot classes
def stop_on_nan(loss: float, step: int) -> None:
    """End the run before such weights are saved. The loss is the same on all processes."""
    if not math.isfinite(loss):
        raise SystemExit(
            f"The loss is {loss} at step {step}: try a lower learning rate, and check the data."
        )
