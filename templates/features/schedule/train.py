from math import cos, pi, sqrt

from torch.optim.lr_scheduler import LambdaLR, ReduceLROnPlateau

#: slot setup
# not prepared: a prepared schedule would step once for each process
schedule = build_schedule(optimizer, total_steps, config)

#: slot states
, "schedule": schedule

#: slot schedule_step
#: region schedule_step
schedule.step()
#: end schedule_step

#: slot functions when kind=cosine
def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:
    """A linear warm-up, then half a cosine down to zero."""
    warmup = int(config.warmup_ratio * total_steps)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        done = (step - warmup) / max(1, total_steps - warmup)
        return 0.5 * (1 + cos(pi * done))

    return LambdaLR(optimizer, factor)

#: slot functions when kind=linear
def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:
    """A linear warm-up, then a straight line down to zero."""
    warmup = int(config.warmup_ratio * total_steps)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return (total_steps - step) / max(1, total_steps - warmup)

    return LambdaLR(optimizer, factor)

#: slot functions when kind=constant
def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:
    """A linear warm-up, then constant."""
    warmup = int(config.warmup_ratio * total_steps)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return 1.0

    return LambdaLR(optimizer, factor)

#: slot functions when kind=wsd
def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:
    """Warm-up, stable, decay: a line up, constant, and a line down to zero."""
    warmup = int(config.warmup_ratio * total_steps)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        left = (total_steps - step) / max(1, int(config.decay_ratio * total_steps))
        return min(1.0, left)

    return LambdaLR(optimizer, factor)

#: slot functions when kind=one_cycle
def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:
    """One cycle: a cosine up from a 25th, then a cosine down to nearly zero."""
    rise = int(config.warmup_ratio * total_steps)

    def factor(step: int) -> float:
        if step < rise:
            start, end, done = 1 / 25, 1.0, step / rise
        else:
            start, end, done = 1.0, 1 / 250_000, (step - rise) / max(1, total_steps - rise)
        return end + (start - end) * 0.5 * (1 + cos(pi * done))

    return LambdaLR(optimizer, factor)

#: slot functions when kind=step
def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:
    """A linear warm-up, then drops by the same factor at regular intervals."""
    warmup = int(config.warmup_ratio * total_steps)

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        if not config.schedule_step:
            return 1.0
        return config.schedule_factor ** int(step / (config.schedule_step * total_steps))

    return LambdaLR(optimizer, factor)

#: slot functions when kind=inverse_sqrt
def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> LambdaLR:
    """A linear warm-up, then down with the inverse square root of the step."""
    warmup = max(1, int(config.warmup_ratio * total_steps))

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return sqrt(warmup / (step + 1))

    return LambdaLR(optimizer, factor)

#: slot functions when kind=plateau
def build_schedule(optimizer: Optimizer, total_steps: int, config: Config) -> ReduceLROnPlateau:
    """Lowers the learning rate when the metric stops improving."""
    return ReduceLROnPlateau(
        optimizer,
        mode={{ ("max" if task.higher_is_better else "min") | python }},
        factor=config.schedule_factor,
        patience=config.schedule_patience,
        threshold=0,
    )

#: replace schedule_step when kind=plateau

#: slot after_evaluation when kind=plateau
schedule.step(metrics[{{ task.metric | python }}])
