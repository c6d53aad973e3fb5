from math import cos, pi, sqrt

from callbacks import Plateau

#: slot before_training
peaks = [group["lr"] for group in optimizer.param_groups]  # before resume() overwrites them

#: slot rates
group["lr"] = learning_rate_at(progress.step, total_steps, peak, config)

#: slot functions when kind=cosine
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then half a cosine down to zero."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    done = min(1, (step - warmup) / max(1, total_steps - warmup))
    return peak * 0.5 * (1 + cos(pi * done))

#: slot functions when kind=linear
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then a straight line down to zero."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    done = min(1, (step - warmup) / max(1, total_steps - warmup))
    return peak * (1 - done)

#: slot functions when kind=constant
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then constant."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak

#: slot functions when kind=wsd
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """Warm-up, stable, decay: a line up to the peak, the peak, and a line down to zero."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    left = (total_steps - step) / max(1, int(config.decay_ratio * total_steps))
    return peak * max(0, min(1, left))

#: slot functions when kind=one_cycle
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """One cycle: a cosine up from a 25th of the peak, a cosine down to nearly zero."""
    rise = int(config.warmup_ratio * total_steps)
    if step < rise:
        start, end, done = peak / 25, peak, step / rise
    else:
        start, end = peak, peak / 250_000
        done = min(1, (step - rise) / max(1, total_steps - rise))
    return end + (start - end) * 0.5 * (1 + cos(pi * done))

#: slot functions when kind=step
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then drops by the same factor at regular intervals."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    if not config.schedule_step:
        return peak
    falls = int(step / (config.schedule_step * total_steps))
    return peak * config.schedule_factor**falls

#: slot functions when kind=inverse_sqrt
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then down with the inverse square root of the step."""
    warmup = max(1, int(config.warmup_ratio * total_steps))
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * sqrt(warmup / (step + 1))

#: slot functions when kind=plateau
def learning_rate_at(step: int, total_steps: int, peak: float, config: Config) -> float:
    """A linear warm-up to the peak, then constant."""
    warmup = int(config.warmup_ratio * total_steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak

#: slot setup when kind=plateau
plateau = Plateau(config.schedule_patience, config.schedule_factor)

#: slot states when kind=plateau
, "plateau": plateau

#: slot rates when kind=plateau
group["lr"] *= plateau.share

#: slot after_evaluation when kind=plateau
plateau.update({{ task.sign }}metrics[{{ task.metric | python }}])
