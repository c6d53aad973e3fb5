import math

#: slot functions
def learning_rate(update: int, total_updates: int, config: Config) -> float:
    """One cycle: a cosine up from a 25th of the peak, a cosine down to nearly zero."""
    rise = int(config.schedule_warmup * total_updates)
    if update < rise:
        start, end, done = config.learning_rate / 25, config.learning_rate, update / rise
    else:
        start, end = config.learning_rate, config.learning_rate / 250_000
        done = (update - rise) / (total_updates - rise)
    return end + (start - end) * 0.5 * (1 + math.cos(math.pi * done))
