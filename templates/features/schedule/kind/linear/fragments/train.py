#: slot functions
def learning_rate(update: int, total_updates: int, config: Config) -> float:
    """A linear warm-up to the peak, then a straight line down to zero."""
    warmup = int(config.schedule_warmup * total_updates)
    if update < warmup:
        return config.learning_rate * (update + 1) / warmup
    done = (update - warmup) / (total_updates - warmup)
    return config.learning_rate * (1 - done)
