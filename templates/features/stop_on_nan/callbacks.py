import math

#: slot classes
def stop_on_nan(loss: float, step: int) -> None:
    """End the run if the loss is not finite, before the weights are saved. All processes agree."""
    if not math.isfinite(loss):
        raise SystemExit(
            f"The loss is {loss} at step {step}: try a lower learning rate, and check the data."
        )
