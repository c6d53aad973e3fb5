from math import cos, pi

#: slot functions
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """One cycle: a cosine up from a 25th of the peak, a cosine down to nearly zero."""
    rise = int(config.warmup_ratio * total_steps)
    if step < rise:
        start, end, done = peak / 25, peak, step / rise
    else:
        start, end = peak, peak / 250_000
        done = min(1, (step - rise) / max(1, total_steps - rise))
    return end + (start - end) * 0.5 * (1 + cos(pi * done))
