#: slot functions
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then drops by the same factor at regular intervals."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    if not config.schedule_step:
        return peak
    falls = int(step / (config.schedule_step * total_steps))
    return peak * config.schedule_factor**falls
