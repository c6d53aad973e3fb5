"""Checks of rendered Python: a fault found here is one of the templates, and is never repaired."""

import ast
import re
from collections.abc import Mapping, Sequence

from scaffold.errors import TemplateError
from scaffold.render.places import Line

# of a module: what it defines, assigns or imports
_DEFINED = re.compile(
    r"^(?:(?:async )?def |class )(\w+)|^ *([\w, ]+)(?::[^=\n]+)? =|^ *(?:from .*)?import (.*)", re.M
)

# names from a module, in one line or in brackets
_IMPORTED = re.compile(r"^ *from (\w+) import (\([^)]*|[^(#\n]+)", re.M)


def check_names(name: str, text: str, origins: Sequence[Line]) -> ast.Module:
    """What the code says.

    Raises TemplateError for code that does not parse, or a name unused, undefined or redefined.

    `origins` gives, for each line of the text, the line of a template that it came from.
    """
    from pyflakes.checker import Checker

    def fault(line: int, message: str) -> TemplateError:
        origin = origins[min(line, len(origins)) - 1]
        return origin.error(f"in the generated {name}: {message}")

    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise fault(error.lineno or 1, error.msg) from None
    messages = sorted(Checker(tree, name).messages, key=lambda message: message.lineno)
    if messages:
        first = messages[0]
        raise fault(first.lineno, first.message % first.message_args)
    return tree


def check_imports(files: Mapping[str, str], origins: Mapping[str, Sequence[Line]]) -> None:
    """Raise TemplateError for a name that another module of the project does not define."""
    defined = {
        name: set(re.findall(r"\w+", " ".join(map(" ".join, _DEFINED.findall(text)))))
        for name, text in files.items()
        if name.endswith(".py")
    }
    for name in defined:
        folder = name.rpartition("/")[0]
        for found in _IMPORTED.finditer(files[name]):
            module = f"{found[1]}.py"
            home = f"{folder}/{module}" if f"{folder}/{module}" in defined else module
            for wanted in re.finditer(r"(\w+)(?: as \w+)?", found[2]):
                if home in defined and wanted[1] not in defined[home]:
                    number = files[name].count("\n", 0, found.start(2) + wanted.start())
                    message = f"in the generated {name}: {home} has no {wanted[1]!r}"
                    raise origins[name][number].error(message)


def check_config(files: Mapping[str, str], origins: Mapping[str, Sequence[Line]]) -> None:
    """Raise TemplateError for a field of Config that nothing reads, or one that does not exist."""
    home = "config.py" if "config.py" in files else "train.py"
    script = files.get(home)
    if script is None:
        return
    fields = {
        node.target.id: node.lineno
        for config in ast.parse(script).body
        if isinstance(config, ast.ClassDef) and config.name == "Config"
        for node in config.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    read: set[str] = set()
    for name, text in files.items():
        if not name.endswith(".py"):
            continue
        for number, row in enumerate(text.splitlines(), start=1):
            if "config." not in row:  # most: the expression takes its time
                continue
            # neither a model's, `model.config.use_cache`, nor the file config.json
            for used in re.findall(r"(?:(?<![\w.])|\bself\.)config\.(?!json\b)([a-z_0-9]+)", row):
                if used not in fields:
                    message = f"in the generated {name}: Config has no field {used!r}"
                    raise origins[name][number - 1].error(message)
                if not name.startswith("tests/"):
                    read.add(used)
    for unused in fields.keys() - read:
        message = f"in the generated {home}: nothing reads the field {unused!r} of Config"
        raise origins[home][fields[unused] - 1].error(message)
