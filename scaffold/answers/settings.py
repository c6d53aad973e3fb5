"""Writes `scaffold.toml`: the answers, with what each of them means beside it.

An owner edits the file. Where new answers are put into it, only rows that have to change do:
everything else stays as it is, to the byte.
"""

import tomllib
from collections.abc import Mapping
from typing import Any

from scaffold.answers.catalog import Catalog, Option, Value
from scaffold.answers.schema import applies, check, default_answers, flatten, schema
from scaffold.errors import AnswerError, ScaffoldError


def write_settings(catalog: Catalog, answers: Mapping[str, Value]) -> str:
    """The text of the file. A feature that is off has no line but `enabled = false`."""
    tables: dict[str, list[str]] = {}
    for option in schema(catalog).values():
        if applies(catalog, option, answers):
            table = option.key.rpartition(".")[0]
            tables.setdefault(table, []).append(_row(option, option.name, answers[option.key]))
    blocks = [f"[{table}]\n" + "\n".join(rows) for table, rows in tables.items()]
    head = (
        "# The answers that this project was written from: change them, then run `scaffold update`."
    )
    return "\n\n".join([head, *blocks]) + "\n"


def _row(option: Option, name: str, value: Value) -> str:
    return f"{name} = {toml_literal(value)}  # {describe(option)}"


def describe(option: Option) -> str:
    """The comment of an option, with its choices where they are few words."""
    if not option.choices or len(option.choices) == 1:
        return option.comment
    return f"{option.comment}: {', '.join(choice.value for choice in option.choices)}"


def toml_literal(value: Value) -> str:
    import tomlkit

    return tomlkit.item(value).as_string()


def rewrite_settings(
    catalog: Catalog,
    old_text: str,
    answers: Mapping[str, Value],
    previous: Mapping[str, Value],
    rendered: str | None = None,
) -> str:
    """The owner's file with other answers in it.

    `previous` are the answers of the last render, and `rendered` is the file as it was then, if it
    is known. A file that nobody has edited becomes what `write_settings` writes. In any other,
    values change in their rows, and missing rows are added to their tables. Rows without an effect
    go; one with a comment of its owner stays where it does no harm, or else as a comment.

    Raises ScaffoldError if the text is not TOML.
    """
    if rendered is None:
        rendered = write_settings(catalog, {**default_answers(catalog, previous), **previous})
    if old_text == rendered:
        return write_settings(catalog, answers)
    try:
        tomllib.loads(old_text)
    except ValueError as error:
        raise ScaffoldError(f"scaffold.toml: is not TOML: {error}.") from None

    from tomlkit.exceptions import TOMLKitError

    from scaffold.answers.rewrite import Rewrite

    try:
        text = Rewrite(catalog, old_text, write_settings(catalog, answers), rendered).text()
    except TOMLKitError:
        text = ""
    if not _holds(catalog, text, answers):
        raise ScaffoldError(
            "scaffold.toml: can't be rewritten. Write its settings as rows of tables, such as "
            "[training], and leave no key out of them."
        )
    return text


def _holds(catalog: Catalog, text: str, answers: Mapping[str, Value]) -> bool:
    """Whether a text has each answer with an effect, or leaves out a feature that is off."""
    options = schema(catalog)
    try:
        data = tomllib.loads(text)
        given = {key: check(options[key], value) for key, value in flatten(catalog, data)}
    except (ValueError, KeyError, AnswerError):
        return False
    for key, option in options.items():
        if key not in given and _is_left_out(catalog, data, key):
            given[key] = False
        if applies(catalog, option, answers) and given.get(key) != answers[key]:
            return False
    return True


def _is_left_out(catalog: Catalog, data: Mapping[str, Any], key: str) -> bool:
    feature = key.removeprefix("features.").removesuffix(".enabled")
    return key == f"features.{feature}.enabled" and feature not in data.get("features", [feature])
