"""A command-line flag for each field of a dataclass."""

import argparse
from dataclasses import fields
from typing import Literal, get_args, get_origin


def parse_flags(config_class, description: str):
    """The settings of this run: the defaults of the class, and what the command line changes."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for field in fields(config_class):
        flag = f"--{field.name.replace('_', '-')}"
        settings = {"default": field.default, "help": "default: %(default)s"}
        if field.type is bool:
            settings |= {"action": argparse.BooleanOptionalAction}
        elif field.name == "resume":
            settings |= {"nargs": "?", "const": "newest", "metavar": "CHECKPOINT"}
            settings |= {"help": "alone it means the newest checkpoint"}
        elif get_origin(field.type) is Literal:
            settings |= {"choices": get_args(field.type)}
        else:
            settings |= {"type": field.type, "metavar": field.type.__name__.upper()}
        parser.add_argument(flag, **settings)
    return config_class(**vars(parser.parse_args()))
