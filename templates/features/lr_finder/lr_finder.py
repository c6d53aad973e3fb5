#: file
"""Find a learning rate: raise it for a few steps, and see where the loss falls fastest.

    python lr_finder.py --batch-size 64

It accepts the flags of train.py. The weights are discarded, and other runs stay unchanged.
Source: L. N. Smith, https://arxiv.org/abs/1506.01186
"""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import fmean, stdev

from accelerate import PartialState
from matplotlib.figure import Figure
from torch.optim import Optimizer

import train
from config import Config, parse_config
from metrics import log

LOWEST, HIGHEST = 1e-7, 10.0
STEPS = 100
SMOOTHING = 0.9  # decay of the running mean of losses; 0: none
DIVERGED = 4.0  # losses above this multiple of the lowest one are ignored


class AllTried(BaseException):
    """Ends the loop of train.py after the last rate. It is no error, which the loop may save."""


def rate_at(step: int) -> float:
    """From the lowest to the highest rate, by the same factor in each step."""
    return LOWEST * (HIGHEST / LOWEST) ** (step / (STEPS - 1))


def raise_rates(optimizer: Optimizer, config: Config) -> None:
    """Set the rate before each step. Parameter groups keep the ratio of their rates."""
    shares = [group["lr"] / config.learning_rate for group in optimizer.param_groups]
    steps = count()

    def set_rates(optimizer, arguments, keywords) -> None:
        if (step := next(steps)) >= STEPS:
            raise AllTried
        for group, share in zip(optimizer.param_groups, shares, strict=True):
            group["lr"] = share * rate_at(step)

    optimizer.register_step_pre_hook(set_rates)


def record_losses(config: Config) -> list[float]:
    """The training loss of each step, up to the first that is not finite."""
    build = train.build_optimizer

    def build_with_rising_rates(model, config: Config) -> Optimizer:
        optimizer = build(model, config)
        raise_rates(optimizer, config)
        return optimizer

    train.build_optimizer = build_with_rising_rates
    metrics, stopped = config.output_dir / "metrics.jsonl", None
    metrics.unlink(missing_ok=True)  # of an earlier search
    try:
        train.main(config)
    except AllTried:
        pass
    except SystemExit as reason:  # perhaps because the loss is no longer finite
        stopped = reason
    else:
        raise SystemExit("Training ended before all rates were tried: turn off what ends it early.")
    lines = []
    if metrics.exists():
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    losses = [line["loss"] for line in lines if "loss" in line]
    bad = [step for step, loss in enumerate(losses) if loss is None]  # NaN, or infinite
    losses = losses[: bad[0]] if bad else losses
    if len(losses) < 3:
        raise stopped or SystemExit("The loss is not finite even at the lowest learning rates.")
    return losses


def smooth(losses: list[float]) -> list[float]:
    """The bias-corrected running mean, up to where the loss diverges."""
    means, mean, lowest = [], 0.0, float("inf")
    for step, loss in enumerate(losses, start=1):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
        means.append(mean / (1 - SMOOTHING**step))
        lowest = min(lowest, means[-1])
        if means[-1] > DIVERGED * lowest > 0:
            break
    return means


def suggest(means: list[float]) -> tuple[int, int]:
    """The step around which the loss falls fastest, and the step of the lowest loss."""
    lowest = max(1, means.index(min(means)))
    width = min(max(1, STEPS // 10), lowest)  # one step is too noisy
    falls = [means[step] - means[step + width] for step in range(lowest - width + 1)]
    return falls.index(max(falls)) + width // 2, lowest


def hardly_falls(losses: list[float], means: list[float]) -> bool:
    """Whether the loss falls by less than 1.5 standard deviations at the lowest rates."""
    first = losses[: max(3, STEPS // 10)]
    return fmean(first) - min(means) <= 1.5 * stdev(first)


def draw(means: list[float], best: int, path: Path) -> None:
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([rate_at(step) for step in range(len(means))], means)
    axes.axvline(rate_at(best), color="C1", label=f"suggested: {rate_at(best):.2g}")
    axes.set(xscale="log", xlabel="learning rate", ylabel="training loss, smoothed")
    axes.legend()
    figure.savefig(path)


def find_rate(config: Config) -> float:
    """The suggested learning rate. Call it on all processes."""
    folder = config.output_dir / "lr_finder"
    losses = record_losses(
        replace(
            config,
            output_dir=folder,
            epochs=STEPS + 1,
            max_steps=STEPS + 1,
            log_every=1,
            limit_batches=config.limit_batches or STEPS,
            #: slot settings
        )
    )
    means = smooth(losses)
    best, lowest = suggest(means)
    if PartialState().is_main_process:
        draw(means, best, folder / "lr_finder.png")
    log(f"drawn: {folder / 'lr_finder.png'}")
    log(
        f"suggested: --learning-rate {rate_at(best):.2g} (the loss falls fastest here; "
        f"it is lowest at {rate_at(lowest):.2g})"
    )
    if hardly_falls(losses, means):
        log("The loss hardly falls at any rate: look at the picture before you trust this rate.")
    return rate_at(best)


if __name__ == "__main__":
    find_rate(parse_config(__doc__))
#: end file

#: slot settings with early_stopping
patience=0,

#: slot settings with checkpoints
checkpoint_every=0,
resume="",
