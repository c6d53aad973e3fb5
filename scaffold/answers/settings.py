"""Writes `scaffold.toml`: the answers, each with a comment that explains it.

Owners edit this file. `rewrite.py` puts new answers into it and changes only the rows that must
change: everything else stays the same, to the byte.
"""

from collections.abc import Mapping

from scaffold.answers.catalog import Catalog, Option, Value
from scaffold.answers.resolve import applies

SETTINGS = "scaffold.toml"


def write_settings(catalog: Catalog, answers: Mapping[str, Value]) -> str:
    """The text of the file. A feature that is off has only the line `enabled = false`."""
    tables: dict[str, list[str]] = {}
    for option in catalog.settings.values():
        if applies(catalog, option, answers):
            table = option.key.rpartition(".")[0]
            tables.setdefault(table, []).append(_row(option, option.name, answers[option.key]))
    blocks = [f"[{table}]\n" + "\n".join(rows) for table, rows in tables.items()]
    head = "# The answers this project was generated from: edit them, then run `scaffold update`."
    return "\n\n".join([head, *blocks]) + "\n"


def _row(option: Option, name: str, value: Value) -> str:
    return f"{name} = {toml_literal(value)}  # {describe(option)}"


def describe(option: Option) -> str:
    """The comment of an option, with its choices."""
    if not option.choices or len(option.choices) == 1:
        return option.comment
    return f"{option.comment}: {', '.join(choice.value for choice in option.choices)}"


def toml_literal(value: Value) -> str:
    import tomlkit

    return tomlkit.item(value).as_string()
