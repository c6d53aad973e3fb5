"""The settings of a run: the flags, their limits, and config.json."""

import json
import os
import sys
from argparse import ArgumentParser
from dataclasses import dataclass, fields, replace
from datetime import datetime
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Literal, get_args

import torch
import tyro

from integrity import is_intact

# (minimum, maximum) of a setting; all other numbers must be at least 0
LIMITS = {
    "epochs": (1, inf),
    "batch_size": (1, inf),
    "learning_rate": (1e-12, inf),
    "seed": (0, 2147483647),
    "cross_validation_folds": (2, inf),
    "custom_metric_limit": (-inf, inf),
    "data_loading_prefetch_factor": (1, inf),
    "distillation_share": (0, 1),
    "distillation_temperature": (0.01, inf),
    "ema_decay": (0, 0.999999),
    "evaluate_every": (1, inf),
    "label_smoothing": (0, 0.999999),
    "mixing_probability": (0, 1),
    "profiler_warmup": (1, inf),
    "profiler_active": (1, inf),
    "warmup_ratio": (0, 1),
    "stop_on_spike_factor": (1, inf),
}


@dataclass(frozen=True)
class Config:
    epochs: int = 20  # passes over the training data
    batch_size: int = 32  # samples per batch on each process
    learning_rate: float = 0.001  # step size of the optimizer
    weight_decay: float = 0.01  # weight decay; 0: off
    max_steps: int = 0  # stop after this many steps; 0: after the last epoch
    num_workers: int = 0  # data workers per process; 0: load in the training process
    seed: int = 0  # seeds the initial weights, the data order and dropout
    log_every: int = 20  # steps between log lines; 0: none
    checkpoint_every: int = 1  # epochs or steps between checkpoints; 0: only at the end
    checkpoint_unit: Literal["epochs", "steps"] = "epochs"  # what checkpoint_every counts
    keep_checkpoints: int = 2  # number of recent checkpoints to keep; 0: all
    max_grad_norm: float = 1.0  # clip the gradient norm to this value; 0: off
    cross_validation_folds: int = 5  # parts of the data; each is held out once
    cross_validation_fold: int = 0  # the fold to hold out, counted from 0
    augmentation_pixels: int = 1  # largest shift in each direction, in pixels; 0: off
    custom_metric_limit: float = 1.0  # loss above which a batch is hard
    data_loading_pin_memory: bool = True  # page-locked memory, for faster copies to a GPU
    data_loading_prefetch_factor: int = 2  # batches that each data worker reads ahead
    data_loading_persistent_workers: bool = False  # keep data workers between epochs
    teacher: str = ""  # folder of a run to learn from; empty: none
    distillation_share: float = 0.5  # share of the loss from the teacher; 0: off
    distillation_temperature: float = 2.0  # divides logits; higher: unlikely classes count more
    patience: int = 5  # evaluations without improvement; 0: off
    min_delta: float = 0.0  # smallest change that counts as improvement; 0: any
    ema_decay: float = 0.99  # decay of the average; 0: off
    eval_batch_size: int = 64  # samples per batch; 0: four times batch_size (language models: once)
    evaluate_every: int = 100  # steps between evaluations
    gradient_compression: Literal["no", "fp16", "bf16"] = "fp16"  # precision of exchanged gradients
    label_smoothing: float = 0.1  # label share spread over all classes; 0: off
    mixed_precision: Literal["no", "bf16", "fp16", "fp8"] = "bf16"  # precision of the computations
    mixing_alpha: float = 0.2  # shares are drawn from Beta(alpha, alpha); 0: off
    mixing_probability: float = 1.0  # fraction of batches to mix; 0: off
    profiler_wait: int = 5  # steps before the profiler starts; 0: none
    profiler_warmup: int = 2  # steps to warm up before recording
    profiler_active: int = 3  # steps to record
    warmup_ratio: float = 0.05  # warm-up, as a fraction of all steps; 0: none
    stop_on_spike_factor: float = 3.0  # highest loss, relative to its running average
    tracker_project: str = "everything"  # the project's name in the tracker
    output_dir: Path = Path(f"runs/{datetime.now():%Y-%m-%d_%H-%M-%S}")  # folder of the run
    limit_batches: int = 0  # for a trial run: batches per epoch and evaluation; 0: all
    resume: str = ""  # run or checkpoint to resume; without a value: the newest

    def __post_init__(self) -> None:
        """Refuse numbers outside of the limits. tyro shows the message of a ValueError."""
        for name, value in vars(self).items():
            low, high = LIMITS.get(name, (0, inf))
            if isinstance(value, int | float) and not (low <= value <= high and value < inf):
                allowed = f"at least {low}" if high == inf else f"from {low} to {high}"
                raise ValueError(f"{name} must be {allowed}, not {value}")


def parse_config(description: str, arguments: list[str] | None = None) -> Config:
    """The settings of the command line. An invalid value exits with status 2."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--output-dir", "--output_dir", type=Path)
    parser.add_argument("--resume", nargs="?", const="newest")
    given, flags = parser.parse_known_args(arguments)
    default = Config()
    if given.resume:  # a resumed run keeps its settings, unless flags change them
        path = find_resumed(given.resume, given.output_dir)
        default = replace(load_config(path), resume=str(path), output_dir=path.parent)
        if path != find_resumed("newest", path.parent):  # keep the newer ones: use a new folder
            default = replace(default, output_dir=Config.output_dir)
    default = replace(default, output_dir=given.output_dir or default.output_dir)
    return tyro.cli(Config, description=description, args=flags, default=default)


def check_compression(accelerator, precision: str) -> None:
    """Stop if the processes can't exchange gradients in this precision."""
    if precision == "bf16" and accelerator.num_processes > 1 and accelerator.device.type == "cpu":
        raise SystemExit("The CPU can't exchange bf16: use --gradient-compression fp16.")


def check_settings(folder: Path, settings: dict, begun: bool) -> None:
    """Write settings.json, or exit if runs in this folder have begun with other settings."""
    path = folder / "settings.json"
    new = json.loads(json.dumps(settings, default=str))
    del new["output_dir"]
    if not begun:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(new, indent=2))
        return
    if not path.exists():
        raise SystemExit(f"{folder} holds other runs: use another --output-dir.")
    if changes := list_changes(json.loads(path.read_text()), new):
        raise SystemExit(
            f"{folder} has runs with other settings: {'; '.join(changes)}. "
            "Use the old ones, or another --output-dir."
        )


def list_changes(old: dict, new: dict) -> list[str]:
    """What differs between two dictionaries, in words."""
    changes = []
    for name in old | new:
        if name not in old:
            changes.append(f"{name} is {new[name]!r}, and was not there")
        elif name not in new:
            changes.append(f"{name} was {old[name]!r}, and is gone")
        elif old[name] != new[name]:
            changes.append(f"{name} is {new[name]!r}, and was {old[name]!r}")
    return changes


def check_environment(accelerator) -> None:
    """Exit unless the processes are connected and the launcher does not accumulate gradients."""
    if accelerator.num_processes != int(os.environ.get("WORLD_SIZE", "1")):
        raise SystemExit("The processes are not connected. On CPUs, set ACCELERATE_USE_CPU=true.")
    if accelerator.gradient_accumulation_steps != 1:
        raise SystemExit("Unset ACCELERATE_GRADIENT_ACCUMULATION_STEPS: it would divide the loss.")
    if accelerator.mixed_precision == "fp16" and accelerator.device.type == "cpu":
        raise SystemExit("fp16 has no effect on the CPU: use bf16 or no mixed precision.")


def describe(accelerator, model, config: Config, total_steps: int) -> str:
    """The first line of the log: what the run uses."""
    processes, device = accelerator.num_processes, accelerator.device.type
    parameters = sum(parameter.numel() for parameter in model.parameters())
    batch = f"batch {processes} x {config.batch_size}"
    return (
        f"{config.output_dir} | {processes} process(es) on {device} | "
        f"precision {accelerator.mixed_precision} | {batch} | {parameters:,} parameters | "
        f"{total_steps} steps"
    )


def list_settings(accelerator, config: Config) -> dict:
    """The settings of a run, with its number of processes and its precision."""
    settings = {"processes": accelerator.num_processes, "precision": accelerator.mixed_precision}
    settings["data_order"] = "balanced"
    cuda = accelerator.device.type == "cuda"
    device = torch.cuda.get_device_name() if cuda else accelerator.device.type
    precision = f"mixed precision: {accelerator.mixed_precision}"
    settings["hardware"] = f"{accelerator.num_processes} x {device}, {precision}"
    return vars(config) | settings


def write_config(accelerator, config: Config, folder: Path) -> None:
    """Write config.json: the settings, the command and the versions."""
    versions = {name: version(name) for name in ("torch", "accelerate")}
    settings = list_settings(accelerator, config)
    values = {"settings": settings, "command": sys.argv, "versions": versions}
    if accelerator.is_main_process:
        (folder / "config.json").write_text(json.dumps(values, indent=2, default=str))


def read_settings(folder: Path) -> dict:
    """The settings of a run or a checkpoint."""
    path = Path(folder, "config.json")
    try:
        return dict(json.loads(path.read_text())["settings"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SystemExit(f"{path} can't be read: {error!r}") from error


def load_config(folder: Path) -> Config:
    """The settings of a saved run. Missing ones get their defaults."""
    saved = read_settings(folder) | {"output_dir": str(folder)}
    values = {}
    for field in fields(Config):
        value = saved.get(field.name, field.default)
        choices = get_args(field.type)
        if choices and value not in choices:  # it is no longer a choice
            value = field.default
        if isinstance(field.default, Path) and isinstance(value, str):
            value = Path(value)
        if type(value) not in (type(field.default), int):
            raise SystemExit(f"{folder / 'config.json'}: {field.name} can't be {value!r}.")
        values[field.name] = value
    try:
        return Config(**values)
    except ValueError as error:
        raise SystemExit(f"{folder / 'config.json'}: {error}.") from error


def find_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run, from the oldest to the newest."""
    return sorted(folder.glob("checkpoint_" + "[0-9]" * 8))


def find_resumed(resume: str, folder: Path | None = None) -> Path:
    """The checkpoint that `--resume` names, or the newest: of a folder, or of all in runs/."""
    path = folder if resume == "newest" else Path(resume)
    if path:
        path = path if path.name else path.absolute()  # `--resume .`
        found = find_checkpoints(path) or [path]
    else:
        runs = Path("runs").glob("*/checkpoint_" + "[0-9]" * 8)
        found = sorted(runs, key=lambda path: path.lstat().st_mtime)
    for candidate in reversed(found):
        if is_intact(candidate):
            return candidate
    raise SystemExit(f"No complete checkpoint to resume: {found[-1] if found else 'runs'}.")


def newest_run() -> Path:
    """The newest run in runs/ that is finished."""
    found = Path("runs").glob("*/model.safetensors")
    newest = max(found, key=lambda path: path.stat().st_mtime, default=None)
    if not newest:
        raise SystemExit("No run in runs/ is finished: train first, or name one with --run.")
    return newest.parent
