#: slot functions
def learning_rate(update: int, total_updates: int, config: Config) -> float:
    """Warm-up, stable, decay: a line up to the peak, the peak, and a line down to zero."""
    warmup = int(config.schedule_warmup * total_updates)
    if update < warmup:
        return config.learning_rate * (update + 1) / warmup
    left = (total_updates - update) / max(1, int(config.schedule_decay * total_updates))
    return config.learning_rate * min(1, left)
