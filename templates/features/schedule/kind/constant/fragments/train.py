#: slot functions
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then constant."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak
