#: slot functions
def learning_rate(update: int, total_updates: int, config: Config) -> float:
    """A linear warm-up to the peak, which falls by the same factor after each step."""
    warmup = int(config.schedule_warmup * total_updates)
    if update < warmup:
        return config.learning_rate * (update + 1) / warmup
    falls = int(update / (config.schedule_step * total_updates))
    return config.learning_rate * config.schedule_factor**falls
