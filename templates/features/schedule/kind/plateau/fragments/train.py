from callbacks import Plateau

#: slot functions
def learning_rate(update: int, total_updates: int, config: Config) -> float:
    """A linear warm-up to the peak, and then the peak."""
    warmup = int(config.schedule_warmup * total_updates)
    if update < warmup:
        return config.learning_rate * (update + 1) / warmup
    return config.learning_rate

#: slot setup
plateau = Plateau(config.schedule_patience, config.schedule_factor)
checkpoints.states["plateau"] = plateau

#: slot rates
group["lr"] *= plateau.share

#: slot after_evaluation
plateau.step({{ task.sign }}metrics[{{ task.metric | python }}])
