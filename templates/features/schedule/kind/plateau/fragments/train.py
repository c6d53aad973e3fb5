from callbacks import Plateau

#: slot functions
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then constant."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak

#: slot setup
plateau = Plateau(config.schedule_patience, config.schedule_factor)

#: slot states
, "plateau": plateau

#: slot rates
group["lr"] *= plateau.share

#: slot after_evaluation
plateau.update({{ task.sign }}metrics[{{ task.metric | python }}])
