"""Checks and records what a run uses: processes, settings and versions."""

import json
import os
import sys
import tomllib
from pathlib import Path

import accelerate
import torch
from accelerate import Accelerator

from data import class_names
from progress import log


def check_environment(accelerator: Accelerator) -> None:
    """Exit unless the processes are connected and gradient accumulation is off."""
    if accelerator.num_processes != int(os.environ.get("WORLD_SIZE", "1")):
        raise SystemExit("The processes are not connected. On CPUs, set ACCELERATE_USE_CPU=true.")
    if accelerator.gradient_accumulation_steps != 1:
        raise SystemExit("Unset ACCELERATE_GRADIENT_ACCUMULATION_STEPS: it would divide the loss.")


def describe(accelerator, model, config, total_steps) -> str:
    """The first line of the log: what the run uses."""
    processes, device = accelerator.num_processes, accelerator.device.type
    parameters = sum(parameter.numel() for parameter in model.parameters())
    batch = f"batch {processes} x {config.batch_size}"
    return (
        f"{config.output_dir} | {processes} process(es) on {device} | "
        f"precision {accelerator.mixed_precision} | {batch} | {parameters:,} parameters | "
        f"{total_steps} steps"
    )


def list_settings(accelerator, config) -> dict:
    """The settings of a run, with its number of processes and its precision."""
    settings = {"processes": accelerator.num_processes, "precision": accelerator.mixed_precision}
    settings["classes"] = class_names(config)
    return vars(config) | settings


def write_config(accelerator, config, folder) -> None:
    """Write config.json: the settings, the command and the versions."""
    project = tomllib.loads(Path(__file__).with_name("pyproject.toml").read_text())["project"]
    versions = {"torch": torch.__version__, "accelerate": accelerate.__version__}
    versions["project"] = project["version"]
    settings = list_settings(accelerator, config)
    values = {"settings": settings, "command": sys.argv, "versions": versions}
    if accelerator.is_main_process:
        (folder / "config.json").write_text(json.dumps(values, indent=2, default=str))


def read_settings(folder) -> dict:
    """The settings of a run or a checkpoint."""
    path = Path(folder, "config.json")
    try:
        return dict(json.loads(path.read_text())["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} can't be read: {error!r}") from error


def compare_settings(accelerator, config, path, fixed) -> None:
    """Log the settings that differ from those of a checkpoint. Exit if one of `fixed` differs."""
    saved, settings = read_settings(path), list_settings(accelerator, config)
    for name in settings | saved:
        old, new = saved.get(name), settings.get(name)
        if name in ("output_dir", "resume") or str(new) == str(old):  # paths are saved as text
            continue
        if name in fixed:
            raise SystemExit(f"{name} was {old}, not {new}. Use the same value or start a new run.")
        log(f"{name} is {new}, and was {old} when the checkpoint was saved")
