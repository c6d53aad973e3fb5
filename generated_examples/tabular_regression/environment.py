"""What a run uses: checked before it starts, and recorded."""

import json
import os
import sys
import tomllib
from pathlib import Path

import accelerate
import torch
from accelerate import Accelerator

from files import replacing
from progress import log


def check_environment(accelerator: Accelerator) -> None:
    """Stop if the processes would not train together, or if a setting has no effect here."""
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if accelerator.num_processes != world_size:
        raise SystemExit(
            f"{world_size} processes were started, but each of them would train alone. Set "
            "ACCELERATE_USE_CPU=true if there is no GPU for each process."
        )
    if accelerator.gradient_accumulation_steps != 1:
        raise SystemExit("Unset ACCELERATE_GRADIENT_ACCUMULATION_STEPS: it would scale gradients.")
    if accelerator.mixed_precision == "fp16" and accelerator.device.type == "cpu":
        raise SystemExit("fp16 has no effect on the CPU: use bf16 or no mixed precision.")


def describe(accelerator, model, config, total_steps) -> str:
    """A summary of the run, in one line."""
    processes, device = accelerator.num_processes, accelerator.device.type
    parameters = sum(parameter.numel() for parameter in model.parameters())
    batch = f"batch {processes} x {config.batch_size}"
    return (
        f"{config.output_dir} | {processes} process(es) on {device} | "
        f"precision {accelerator.mixed_precision} | {batch} | {parameters:,} parameters | "
        f"{total_steps} steps"
    )


def describe_config(accelerator, config) -> dict:
    """The settings of a run, the command that started it, and the versions it uses."""
    project = tomllib.loads(Path(__file__).with_name("pyproject.toml").read_text())["project"]
    settings = {**vars(config), "processes": accelerator.num_processes}
    versions = {"torch": torch.__version__, "accelerate": accelerate.__version__}
    versions["project"] = project["version"]
    return {"settings": settings, "command": sys.argv, "versions": versions}


def write_config(accelerator, config, folder) -> None:
    """Write config.json on the main process."""
    if accelerator.is_main_process:
        text = json.dumps(describe_config(accelerator, config), indent=2, default=str)
        with replacing(folder / "config.json") as scratch:
            scratch.write_text(text)


def read_settings(folder) -> dict:
    """The settings of a run or a checkpoint."""
    path = Path(folder, "config.json")
    try:
        return dict(json.loads(path.read_text())["settings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} can't be read: {error!r}") from error


def is_trial(path) -> bool:
    """Whether a checkpoint is of a run with --limit-batches."""
    return read_settings(path).get("limit_batches", 0) > 0


def find_trial(config, checkpoints) -> list[Path]:
    """The files of a trial run, to overwrite. Exits if the folder holds any other run.

    `checkpoints` are the complete ones of the folder.
    """
    folder = config.output_dir
    paths = [folder / "best.safetensors", folder / "model.safetensors"]
    weights = [path for path in paths if path.exists()]
    incomplete = len(list(folder.glob("checkpoint_*"))) > len(checkpoints)
    runs = [*checkpoints, folder] if weights else checkpoints
    if incomplete or not all(map(is_trial, runs)):
        advice = "--resume it, or use" if checkpoints and not config.resume else "use"
        raise SystemExit(f"{folder} holds a run: {advice} another --output-dir.")
    if checkpoints or weights:
        log(f"overwriting the trial run in {folder}, started with --limit-batches")
    return checkpoints + weights


def refuse_changes(accelerator, config, path, fixed) -> None:
    """Exit if one of the `fixed` settings differs from that of the checkpoint in `path`.

    `fixed` maps their names to their values in a script that lacks them.
    """
    saved, settings = read_settings(path), describe_config(accelerator, config)["settings"]
    for name, absent in fixed.items():
        old, value = saved.get(name, absent), settings.get(name, absent)
        if str(value) != str(old):  # config.json holds paths as text
            raise SystemExit(
                f"{path} was saved with {name} {old}. A resumed run can't change it to "
                f"{value}: resume with the same value, or start a new run."
            )


def log_changes(accelerator, config, path, fixed) -> None:
    """Print the settings that differ from those in `path`, or from the default ones."""
    saved = read_settings(path)
    for name, value in describe_config(accelerator, config)["settings"].items():
        old, default = saved.get(name), getattr(type(config), name, value)
        if name in ("output_dir", "resume"):
            continue
        if str(value) == str(old):
            if value != default:
                log(f"{name} is {value}, as in the checkpoint; the default is {default}")
        elif name not in fixed:
            log(f"{name} is {value}, and was {old} when the checkpoint was saved")
