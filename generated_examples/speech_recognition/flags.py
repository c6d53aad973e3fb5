"""A command-line flag for each field of a dataclass, with its comment as the help text."""

import inspect
import re
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction
from dataclasses import fields
from math import inf
from typing import Literal, get_args, get_origin

from checkpoint import find_resumed
from environment import read_settings

# (minimum, maximum) of a setting; all other numbers must be at least 0
LIMITS = {
    "epochs": (1, inf),
    "batch_size": (1, inf),
    "learning_rate": (1e-12, inf),
    "seed": (0, 2147483647),
    "sample_rate": (1000, inf),
    "mels": (8, inf),
    "width": (4, inf),
    "layers": (1, inf),
    "dropout": (0, 0.999999),
    "warmup_ratio": (0, 1),
}


def parse_flags(config_class, description, arguments=None, saved=None):
    """Parse the settings of a run. An invalid value exits with status 2."""
    parser = ArgumentParser(usage=SUPPRESS, description=description.partition("\n")[0])
    comments = dict(re.findall(r"(\w+): .*?  # (.*)", inspect.getsource(config_class)))
    for field in fields(config_class):
        flag, comment = f"--{field.name.replace('_', '-')}", comments.get(field.name, "")
        text = f"{comment} (default: {field.default})".replace("%", "%%")
        if field.type is bool:
            options = {"action": BooleanOptionalAction}
        elif get_origin(field.type) is Literal:
            options = {"choices": get_args(field.type)}
        else:
            options = {"type": field.type}
        if field.name == "resume":
            options |= {"nargs": "?", "const": "newest", "metavar": "PATH"}
        parser.add_argument(flag, default=field.default, help=text, **options)
    if saved is None and (path := find_resumed(parser.parse_args(arguments))):
        saved = {**read_settings(path), "output_dir": path.parent}
    if saved:  # saved values are the defaults, except choices that no longer exist
        for field in fields(config_class):
            value, choices = saved.get(field.name), get_args(field.type)
            if field.name != "resume" and field.name in saved and (not choices or value in choices):
                parser.set_defaults(**{field.name: value})
    values = vars(parser.parse_args(arguments))
    for name, value in values.items():
        low, high = LIMITS.get(name, (0, inf))
        if isinstance(value, int | float) and not (low <= value <= high and value < inf):
            allowed = f"at least {low}" if high == inf else f"from {low} to {high}"
            parser.error(f"--{name.replace('_', '-')} must be {allowed}, not {value}")
    return config_class(**values)
