#: slot functions
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then a straight line down to zero."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    done = min(1, (step - warmup) / max(1, total_steps - warmup))
    return peak * (1 - done)
