"""Checks and records what a run uses: processes, settings and versions."""

import json
import os
import sys
import tomllib
from pathlib import Path

import accelerate
import torch
from accelerate import Accelerator
from files import replacing


def check_environment(accelerator: Accelerator) -> None:
    """Exit if the processes are not connected, or if a setting of the environment can't work."""
    #: region world_size
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    #: end world_size
    if accelerator.num_processes != world_size:
        raise SystemExit(
            f"{world_size} processes were started, but each of them would train alone. Set "
            "ACCELERATE_USE_CPU=true if there is no GPU for each process."
        )
    if accelerator.gradient_accumulation_steps != 1:
        raise SystemExit("Unset ACCELERATE_GRADIENT_ACCUMULATION_STEPS: it would divide the loss.")
    if accelerator.mixed_precision == "fp16" and accelerator.device.type == "cpu":
        raise SystemExit("fp16 has no effect on the CPU: use bf16 or no mixed precision.")


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
    """The settings of a run, with the processes and the precision that it was started with."""
    settings = {**vars(config), "processes": accelerator.num_processes}
    settings["precision"] = accelerator.mixed_precision
    #: slot recorded
    return settings


def write_config(accelerator, config, folder) -> None:
    """Write config.json: the settings, the command and the versions."""
    if not accelerator.is_main_process:
        return
    project = tomllib.loads(Path(__file__).with_name("pyproject.toml").read_text())["project"]
    versions = {"torch": torch.__version__, "accelerate": accelerate.__version__}
    versions["project"] = project["version"]
    settings = list_settings(accelerator, config)
    values = {"settings": settings, "command": sys.argv, "versions": versions}
    with replacing(folder / "config.json") as scratch:
        scratch.write_text(json.dumps(values, indent=2, default=str))


#: slot config_functions
