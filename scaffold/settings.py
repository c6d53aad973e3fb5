"""Writes `scaffold.toml`: the answers, with what each of them means beside it."""

from collections.abc import Mapping

from scaffold.answers import applies, schema
from scaffold.catalog import Catalog, Option, Value


def write_settings(catalog: Catalog, answers: Mapping[str, Value]) -> str:
    """The text of the file. A feature that is off has no line but `enabled = false`."""
    tables: dict[str, list[str]] = {}
    for option in schema(catalog).values():
        if applies(catalog, option, answers):
            table, _, name = option.key.rpartition(".")
            row = f"{name} = {toml_literal(answers[option.key])}  # {describe(option)}"
            tables.setdefault(table, []).append(row)
    blocks = [f"[{table}]\n" + "\n".join(rows) for table, rows in tables.items()]
    head = "# The answers that this project was written from."
    return "\n\n".join([head, *blocks]) + "\n"


def describe(option: Option) -> str:
    """The comment of an option, with its choices where they are few words."""
    if not option.choices or len(option.choices) == 1:
        return option.comment
    return f"{option.comment}: {', '.join(choice.value for choice in option.choices)}"


def toml_literal(value: Value) -> str:
    import tomlkit

    return tomlkit.item(value).as_string()
