"""A command-line flag for each field of a dataclass, with its comment as the help text."""

import argparse
import inspect
import re
import sys
from dataclasses import fields
from math import inf, isfinite
from typing import Literal, get_args, get_origin

from checkpoint import find_resumed
from environment import read_settings

# the minimum and maximum of each setting whose range is not 0 to infinity
LIMITS = {
    "epochs": (1, inf),
    "batch_size": (1, inf),
    "learning_rate": (1e-12, inf),
    "seed": (0, 2147483647),
    "context": (1, inf),
    "layers": (1, inf),
    "width": (1, inf),
    "heads": (1, inf),
    "warmup_ratio": (0, 1),
}


def saved_flags(config_class, folder) -> list[str]:
    """The settings of a run or a checkpoint as flags, without the folder and --resume."""
    saved, flags = read_settings(folder), []
    for field in fields(config_class):
        if field.name in saved and field.name not in ("output_dir", "resume"):
            flag, value = field.name.replace("_", "-"), saved[field.name]
            if field.type is bool:
                flags.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                flags.append(f"--{flag}={value}")
    return flags


def parse_flags(config_class, description, arguments=None):
    """Parse the settings of a run. An invalid value exits with status 2."""
    parser = argparse.ArgumentParser(
        usage=argparse.SUPPRESS,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    comments = dict(re.findall(r"(\w+): .*?  # (.*)", inspect.getsource(config_class)))
    for field in fields(config_class):
        text = f"{comments.get(field.name, '')} (default: {field.default})".replace("%", "%%")
        settings = {"default": field.default, "help": text}
        if field.type is bool:
            settings |= {"action": argparse.BooleanOptionalAction}
        elif get_origin(field.type) is Literal:
            settings |= {"choices": get_args(field.type)}
        else:
            settings |= {"type": field.type, "metavar": field.type.__name__.upper()}
        if field.name == "resume":
            settings |= {"nargs": "?", "const": "newest", "metavar": "PATH"}
        parser.add_argument(f"--{field.name.replace('_', '-')}", **settings)
    values = vars(parser.parse_args(arguments))
    if path := find_resumed(config_class(**values)):
        parser.prog += f" with the settings of {path}"
        values = vars(
            parser.parse_args([*saved_flags(config_class, path), *(arguments or sys.argv[1:])])
        )
    for name, value in values.items():
        low, high = LIMITS.get(name, (0, inf))
        if isinstance(value, int | float) and not (isfinite(value) and low <= value <= high):
            allowed = f"at least {low}" if high == inf else f"from {low} to {high}"
            parser.error(f"--{name.replace('_', '-')} must be {allowed}, not {value}")
    return config_class(**values)
