#: file when loop=complete
"""A command-line flag for each field of a dataclass, with its comment as the help text."""

import inspect
import re
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction
from dataclasses import fields
from math import inf
from typing import Literal, get_args, get_origin

# (minimum, maximum) of a setting; all other numbers must be at least 0
LIMITS = {
    #: slot limits
}


#: slot functions


def parse_flags(
    config_class, description, arguments=None
    #: slot parameters
):
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
        #: slot flags
        parser.add_argument(flag, default=field.default, help=text, **options)
    #: slot defaults
    values = vars(parser.parse_args(arguments))
    for name, value in values.items():
        low, high = LIMITS.get(name, (0, inf))
        if isinstance(value, int | float) and not (low <= value <= high and value < inf):
            allowed = f"at least {low}" if high == inf else f"from {low} to {high}"
            parser.error(f"--{name.replace('_', '-')} must be {allowed}, not {value}")
    return config_class(**values)
