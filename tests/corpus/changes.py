"""The updates that each edit of the corpus meets: answers before and after."""

from collections.abc import Mapping

from scaffold.answers.catalog import Value

Given = Mapping[str, Value]

# two epochs of five steps, each of them logged
SMALL: Given = {
    "training.epochs": 2,
    "training.batch_size": 64,
    "training.log_every": 1,
    "features.best_model.enabled": True,
}


def on(feature: str, **options: Value) -> dict[str, Value]:
    more = {f"features.{feature}.{name}": value for name, value in options.items()}
    return {f"features.{feature}.enabled": True, **more}


def off(feature: str) -> dict[str, Value]:
    return {f"features.{feature}.enabled": False}


SLURM = {"hardware.launcher": "slurm"}
WINDOW = {"training.gradient_accumulation_steps": 4}
CHANGES: dict[str, tuple[Given, Given]] = {
    "accumulation": ({}, WINDOW),
    "no accumulation": (WINDOW, {}),
    "no clipping": ({}, off("clipping")),
    "clipping of values": ({}, on("clipping", kind="value")),
    "clipping": (off("clipping"), {}),
    "EMA": ({}, on("ema")),
    "no EMA": (on("ema"), {}),
    "bf16": ({}, {"hardware.mixed_precision": "bf16"}),
    "SGD": ({}, {"training.optimizer": "sgd"}),
    "Lion": ({}, {"training.optimizer": "lion"}),
    "fused AdamW": ({}, {"training.optimizer_kernels": "fused"}),
    "evaluation by steps": ({}, on("evaluation_by_steps", every=2)),
    "mixing": ({}, on("mixing")),
    "label smoothing": ({}, {"training.label_smoothing": 0.1}),
    "predictions": ({}, on("predictions")),
    "early stopping": ({}, on("early_stopping")),
    "no early stopping": (on("early_stopping"), {}),
    "no checkpoints": ({}, off("checkpoints")),
    "no best model": ({}, off("best_model")),
    "tracker": ({}, on("tracker", kind="tensorboard")),
    "no tracker": (on("tracker", kind="tensorboard"), {}),
    "no weight decay for norms": ({}, on("no_decay")),
    "linear schedule": ({}, {"features.schedule.kind": "linear"}),
    "no schedule": ({}, off("schedule")),
    "stop on NaN": ({}, on("stop_on_nan")),
    "first evaluation": ({}, on("first_evaluation")),
    "SLURM's partition": (SLURM, {**SLURM, "slurm.partition": "gpus"}),
    "SLURM": ({}, {"hardware.launcher": "slurm"}),
    "notebook": ({}, {"hardware.launcher": "notebook"}),
    "Kubernetes": ({}, {"hardware.launcher": "trainjob"}),
    "other numbers": ({}, {"training.learning_rate": 0.01, "training.weight_decay": 0.1}),
}


def answers(change: str) -> tuple[dict[str, Value], dict[str, Value]]:
    """All answers that are given, before and after a change."""
    old, new = CHANGES[change]
    return {**SMALL, **old}, {**SMALL, **new}
