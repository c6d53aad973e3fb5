#: file when loop=complete
"""Checks and records what a run uses: processes, settings and versions."""

import json
import os
import sys
import tomllib
from pathlib import Path

import accelerate
import torch
from accelerate import Accelerator


def check_environment(accelerator: Accelerator) -> None:
    """Exit unless the processes are connected and gradient accumulation is off."""
    #: region world_size
    if accelerator.num_processes != int(os.environ.get("WORLD_SIZE", "1")):
        #: end world_size
        raise SystemExit("The processes are not connected. On CPUs, set ACCELERATE_USE_CPU=true.")
    if accelerator.gradient_accumulation_steps != 1:
        raise SystemExit("Unset ACCELERATE_GRADIENT_ACCUMULATION_STEPS: it would divide the loss.")
    #: slot checks


#: slot functions


def describe(accelerator, model, config, total_steps) -> str:
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


def list_settings(accelerator, config) -> dict:
    """The settings of a run, with its number of processes and its precision."""
    settings = {"processes": accelerator.num_processes, "precision": accelerator.mixed_precision}
    #: slot recorded
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


#: slot config_functions
#: end file

from data import class_names

#: slot recorded with saved_classes with checkpoints
settings["classes"] = class_names(config)
