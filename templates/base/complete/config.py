#: file when loop=complete
"""The settings of a run: the flags, their limits, and config.json."""

import json
import os
import sys
from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from pathlib import Path

import tyro

# (minimum, maximum) of a setting; all other numbers must be at least 0
LIMITS = {
    #: slot limits
}


@dataclass(frozen=True)
class Config:
    #: slot config
    #: region output_dir
    output_dir: Path = Path(f"runs/{datetime.now():%Y-%m-%d_%H-%M-%S}")  # folder of the run
    #: end output_dir
    limit_batches: int = 0  # for a trial run: batches per epoch and evaluation; 0: all
    #: slot fields

    def __post_init__(self) -> None:
        """Refuse numbers outside of the limits. tyro shows the message of a ValueError."""
        for name, value in vars(self).items():
            low, high = LIMITS.get(name, (0, inf))
            if isinstance(value, int | float) and not (low <= value <= high and value < inf):
                allowed = f"at least {low}" if high == inf else f"from {low} to {high}"
                raise ValueError(f"{name} must be {allowed}, not {value}")


def parse_config(description: str, arguments: list[str] | None = None) -> Config:
    """The settings of the command line. An invalid value exits with status 2."""
    #: region parse
    return tyro.cli(Config, description=description, args=arguments)
    #: end parse


#: slot functions


def check_environment(accelerator) -> None:
    """Exit unless the processes are connected and the launcher does not accumulate gradients."""
    #: region world_size
    if accelerator.num_processes != int(os.environ.get("WORLD_SIZE", "1")):
        #: end world_size
        raise SystemExit("The processes are not connected. On CPUs, set ACCELERATE_USE_CPU=true.")
    #: region accumulation
    if accelerator.gradient_accumulation_steps != 1:
        raise SystemExit("Unset ACCELERATE_GRADIENT_ACCUMULATION_STEPS: it would divide the loss.")
    #: end accumulation
    #: slot checks


def describe(accelerator, model, config: Config, total_steps: int) -> str:
    """The first line of the log: what the run uses."""
    processes, device = accelerator.num_processes, accelerator.device.type
    #: region parameters
    parameters = sum(parameter.numel() for parameter in model.parameters())
    #: end parameters
    #: region batch
    batch = f"batch {processes} x {config.batch_size}"
    #: end batch
    #: slot counted_batch
    return (
        f"{config.output_dir} | {processes} process(es) on {device} | "
        #: slot described
        f"precision {accelerator.mixed_precision} | {batch} | {parameters:,} parameters | "
        f"{total_steps} steps"
    )


def list_settings(accelerator, config: Config) -> dict:
    """The settings of a run, with its number of processes and its precision."""
    settings = {"processes": accelerator.num_processes, "precision": accelerator.mixed_precision}
    #: slot recorded
    return vars(config) | settings


def write_config(accelerator, config: Config, folder: Path) -> None:
    """Write config.json: the settings, the command and the versions."""
    versions = {name: version(name) for name in ("torch", "accelerate")}
    settings = list_settings(accelerator, config)
    values = {"settings": settings, "command": sys.argv, "versions": versions}
    if accelerator.is_main_process:
        (folder / "config.json").write_text(json.dumps(values, indent=2, default=str))


#: region load_config if config_functions is filled
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


#: slot config_functions
#: end load_config
#: end file

from datetime import datetime

from data import class_names

#: slot recorded with saved_classes with checkpoints
settings["classes"] = class_names(config)
