"""The results of a search: the best settings, and confidence intervals of their metrics."""

import json
from math import sqrt
from pathlib import Path
from shlex import quote
from statistics import mean, stdev

import matplotlib
import optuna
from optuna.importance import PedAnovaImportanceEvaluator
from optuna.trial import TrialState
from optuna.visualization.matplotlib import plot_optimization_history, plot_param_importances

from metrics import is_step
from trials import RunFailed, in_parallel, run, to_flags

# 97.5 % quantiles of Student's t distribution with 1, 2, 3, ... degrees of freedom
QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
QUANTILES += [2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093]
MOST_SEEDS = len(QUANTILES) + 1
# the key of each setting in scaffold.toml
KEYS = {
    "epochs": "training.epochs",
    "batch_size": "training.batch_size",
    "learning_rate": "training.learning_rate",
    "weight_decay": "training.weight_decay",
    "max_steps": "training.max_steps",
    "num_workers": "training.num_workers",
    "seed": "training.seed",
    "log_every": "training.log_every",
    "checkpoint_every": "training.checkpoint_every",
    "checkpoint_unit": "training.checkpoint_unit",
    "keep_checkpoints": "training.keep_checkpoints",
    "max_grad_norm": "features.clipping.max_norm",
    "cross_validation_folds": "features.cross_validation.folds",
    "cross_validation_fold": "features.cross_validation.fold",
    "augmentation_pixels": "features.augmentation.pixels",
    "custom_metric_limit": "features.custom_metric.limit",
    "data_loading_pin_memory": "features.data_loading.pin_memory",
    "data_loading_prefetch_factor": "features.data_loading.prefetch_factor",
    "data_loading_persistent_workers": "features.data_loading.persistent_workers",
    "teacher": "features.distillation.teacher",
    "distillation_share": "features.distillation.share",
    "distillation_temperature": "features.distillation.temperature",
    "patience": "features.early_stopping.patience",
    "min_delta": "features.early_stopping.min_delta",
    "ema_decay": "features.ema.decay",
    "eval_batch_size": "training.eval_batch_size",
    "evaluate_every": "features.evaluation_by_steps.every",
    "gradient_compression": "training.gradient_compression",
    "label_smoothing": "training.label_smoothing",
    "mixed_precision": "hardware.mixed_precision",
    "mixing_alpha": "features.mixing.alpha",
    "mixing_probability": "features.mixing.probability",
    "profiler_wait": "features.profiler.wait",
    "profiler_warmup": "features.profiler.warmup",
    "profiler_active": "features.profiler.active",
    "warmup_ratio": "features.schedule.warmup",
    "stop_on_spike_factor": "features.stop_on_spike.factor",
    "tracker_project": "features.tracker.project",
}


def show_best(study: optuna.Study, folder: Path, flags: list[str]) -> tuple[str, dict]:
    """Print and return the settings of the best trial, with its name, and draw what matters."""
    done = study.get_trials(states=[TrialState.COMPLETE])
    if not done:
        print("No trial is complete.")
        return "defaults", {}
    best, settings = study.best_trial, study.best_trial.user_attrs["settings"]
    print(
        f"\nThe best of {len(done)} complete trials is number {best.number}, with {best.value:.5g}:"
    )
    print(
        "  accelerate launch --config_file accelerate.yaml train.py",
        *to_flags(settings),
        *map(quote, flags),
    )
    print_answers(settings)
    matplotlib.use("agg")
    plot_optimization_history(study).figure.savefig(folder / "history.png")
    if len(done) > 1:
        axes = plot_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
        axes.figure.savefig(folder / "importances.png", bbox_inches="tight")
    return f"trial_{best.number:04d}", settings


def print_answers(settings: dict) -> None:
    """Print what makes these settings the defaults."""
    path, answers, others = Path(__file__).with_name("scaffold.toml"), [], []
    for name, value in settings.items():
        if path.exists() and name in KEYS:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            answers.append(f"--set {quote(f'{KEYS[name]}={text}')}")
        else:
            others.append(name)
    if answers:
        print("To make them the defaults, in train.py and scaffold.toml:")
        print("  scaffold update", *answers)
    if others:
        print(f"To make them the defaults, edit Config: {', '.join(others)}")


def repeat(folder: Path, flags: list[str], settings: dict, seeds: range, jobs: int) -> None:
    """Train with each seed, in a folder that is named after `folder`, and print the means."""
    left, results = list(seeds), {}

    def take() -> tuple[int] | None:
        return (left.pop(0),) if left else None

    def work(seed: int, environment: dict) -> None:
        own = folder.with_name(f"{folder.name}_seed_{seed}")
        try:
            lines = run(own, flags, {**settings, "seed": seed}, environment, lambda lines: None)
        except RunFailed as error:
            raise SystemExit(f"{own.name} {error}") from None
        epochs = [line for line in lines if not is_step(line)]
        results[seed] = {name: value for line in epochs for name, value in line.items()}
        print(f"{own.name} is done", flush=True)

    in_parallel(jobs, take, work)
    summary = {}
    print(f"\nThe mean over {len(seeds)} seeds, and its 95% confidence interval:")
    for name in sorted(results[seeds[0]].keys() - {"step"}):
        values = [results[seed][name] for seed in seeds]
        if None in values:  # NaN, or infinite
            summary[name] = {"seeds": dict(zip(seeds, values, strict=True))}
            print(f"  {name} is not finite with seed {seeds[values.index(None)]}")
            continue
        middle = mean(values)
        half = QUANTILES[len(values) - 2] * stdev(values) / sqrt(len(values))
        summary[name] = {"mean": middle, "interval": [middle - half, middle + half]}
        summary[name]["seeds"] = dict(zip(seeds, values, strict=True))
        print(f"  {name} {middle:.5g} ({middle - half:.5g} to {middle + half:.5g})")
    target = folder.with_name(f"{folder.name}_seeds.json")
    target.write_text(json.dumps(summary, indent=1))
