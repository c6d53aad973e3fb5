#: slot functions
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """Warm-up, stable, decay: a line up to the peak, the peak, and a line down to zero."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    left = (total_steps - step) / max(1, int(config.decay_ratio * total_steps))
    return peak * max(0, min(1, left))
