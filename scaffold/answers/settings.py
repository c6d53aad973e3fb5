"""Writes `scaffold.toml`: the answers that are not defaults, each with a comment that explains it.

Owners edit this file. `rewrite.py` puts new answers into it and changes only the rows that must
change: everything else stays the same, to the byte.
"""

import re
from collections.abc import Collection, Mapping

from scaffold.answers.catalog import Catalog, Option, Value
from scaffold.answers.resolve import Answers, active_features, applies, default_answers, resolve
from scaffold.errors import AnswerError

SETTINGS = "scaffold.toml"
ALWAYS = ("project.name", "project.task")
HEAD = """\
# The answers this project was generated from: edit them, then run `scaffold update`.
# All others have their defaults: `scaffold features --kind settings --task {task}` lists them.
# A feature that has no table here is off.
"""


def write_settings(catalog: Catalog, answers: Mapping[str, Value]) -> str:
    """The text of the file: what is on, and what differs from the defaults."""
    head = HEAD.format(task=answers["project.task"])
    return "\n".join([head, *_tables(catalog, answers, stated(catalog, answers))])


def write_all_settings(catalog: Catalog, answers: Mapping[str, Value]) -> str:
    """As `write_settings`, with a row for each setting that has an effect."""
    keys = [key for key, option in catalog.settings.items() if applies(catalog, option, answers)]
    return "\n".join(_tables(catalog, answers, keys))


def stated(catalog: Catalog, answers: Mapping[str, Value]) -> list[str]:
    """The keys of the answers from which all others follow."""
    options = catalog.settings
    effective = [key for key, option in options.items() if applies(catalog, option, answers)]
    on = {feature.switch_key for feature in active_features(catalog, answers)}
    off = {feature.switch_key: False for feature in catalog.features.values() if not feature.switch}
    usual = default_answers(catalog, answers)
    given: Answers = {
        key: answers[key]
        for key in effective
        if key in ALWAYS or (key in on if key in off else answers[key] != usual[key])
    }
    try:
        found = resolve(catalog, {**off, **given})
    except AnswerError:  # answers of another version
        return effective
    given |= {key: answers[key] for key in effective if found[key] != answers[key]}
    return [key for key in effective if key in given]


def _tables(catalog: Catalog, answers: Mapping[str, Value], keys: Collection[str]) -> list[str]:
    tables: dict[str, list[str]] = {}
    for key in keys:
        option = catalog.settings[key]
        table = key.rpartition(".")[0]
        tables.setdefault(table, []).append(_row(option, option.name, answers[key]))
    blocks = [f"[{table}]\n" + "\n".join(rows) + "\n" for table, rows in tables.items()]
    has_features = any(table.startswith("features.") for table in tables)
    return blocks if has_features else [*blocks, "[features]\n"]


def _row(option: Option, name: str, value: Value) -> str:
    return f"{name} = {toml_literal(value)}  # {describe(option)}"


def describe(option: Option) -> str:
    """The comment of an option, with its choices."""
    if not option.choices or len(option.choices) == 1:
        return option.comment
    return f"{option.comment}: {', '.join(choice.value for choice in option.choices)}"


def toml_literal(value: Value) -> str:
    """A value as TOML writes it."""
    # importing tomlkit takes longer than to write the file, and few values need it
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, str) and re.fullmatch(r'[^"\\\x00-\x1f\x7f]*', value):
        return f'"{value}"'
    import tomlkit

    return tomlkit.item(value).as_string()
