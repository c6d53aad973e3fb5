import math

#: slot functions
def learning_rate(update: int, total_updates: int, config: Config) -> float:
    """A linear warm-up to the peak, then down with the inverse square root of the update."""
    warmup = max(1, int(config.schedule_warmup * total_updates))
    if update < warmup:
        return config.learning_rate * (update + 1) / warmup
    return config.learning_rate * math.sqrt(warmup / (update + 1))
