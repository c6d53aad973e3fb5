"""The answers of an existing project: the previous ones, and what was changed since."""

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scaffold.answers import hardware
from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.check import check
from scaffold.answers.read import flatten, read_answers
from scaffold.answers.resolve import (
    Answers,
    applies,
    default_answers,
    implied_switches,
    resolve,
    traits,
)
from scaffold.answers.settings import SETTINGS
from scaffold.errors import AnswerError
from scaffold.project.pristine import Pristine
from scaffold.project.read import read_text
from scaffold.project.renames import translate_settings


def next_answers(
    catalog: Catalog, folder: Path, pristine: Pristine, fresh: Mapping[str, Value]
) -> Answers:
    """All answers: the previous ones, overridden by scaffold.toml, overridden by `fresh`.

    Raises ScaffoldError, or AnswerError for answers that can't be combined.
    """
    edited, previous = edited_answers(catalog, folder, pristine)
    for key in fresh:
        # a given option turns its feature on, even if its table in the file turns it off
        table = key.rpartition(".")[0]
        if table.startswith("features.") and f"{table}.enabled" not in fresh:
            edited.pop(f"{table}.enabled", None)
    given = {**edited, **fresh}
    return resolve(catalog, complete(catalog, given, previous), fresh=given)


def edited_answers(
    catalog: Catalog, folder: Path, pristine: Pristine
) -> tuple[Answers, Mapping[str, Value]]:
    """The answers that the owner changed in scaffold.toml since the last render, and the others.

    A row that the owner removed is in neither: its setting has its default again. Raises
    ScaffoldError if the file can't be read or has an answer that is not allowed.
    """
    text, rendered = read_text(folder, pristine.place(SETTINGS)), pristine.files.get(SETTINGS)
    if text is None or text == rendered:
        return {}, pristine.answers
    path = folder / pristine.place(SETTINGS)
    text = translate_settings(pristine.version, text)
    given = read_answers(catalog, path, obsolete=pristine.answers, text=text)
    edited = {
        key: value
        for key, value in given.items()
        if key not in pristine.answers or pristine.answers[key] != value
    }
    for feature in catalog.features.values():
        # a feature that the last version did not have is not turned off by a file without it
        named = rf"(?m)^\s*(\[features\.{feature.name}\]|{feature.name}\s*=)"
        if feature.switch_key not in pristine.answers and not re.search(named, text):
            edited.pop(feature.switch_key, None)
    for key in list(edited):
        # a row of a feature that the file turns off leaves it off
        switch = f"{key.rpartition('.')[0]}.enabled"
        if switch in given:
            edited[switch] = given[switch]
    removed = _stated(catalog, translate_settings(pristine.version, rendered or "")) - given.keys()
    others = {key: value for key, value in pristine.answers.items() if key not in removed}
    return edited, others


def _stated(catalog: Catalog, text: str) -> set[str]:
    """The keys of the rows in a rendered scaffold.toml."""
    return {key for key, _ in flatten(catalog, tomllib.loads(text))}


def complete(
    catalog: Catalog, given: Mapping[str, Value], previous: Mapping[str, Value]
) -> Answers:
    """The given answers, and the previous ones that had an effect and still have one."""
    effective = effective_answers(catalog, previous)
    task = "project.task"
    if given.get(task, effective.get(task)) != effective.get(task):
        # defaults of the previous task are replaced by those of the new one
        usual = default_answers(catalog, effective)
        effective = {key: value for key, value in effective.items() if value != usual[key]}
    known = {**effective, **given}
    # defaults that a given choice changes are replaced too
    usual, other = default_answers(catalog, effective), default_answers(catalog, known)
    follows = {key for key, value in effective.items() if value == usual[key] != other[key]}
    known = {key: value for key, value in known.items() if key in given or key not in follows}
    effective = {key: value for key, value in effective.items() if key not in follows}
    answers = {**default_answers(catalog, known), **known}
    answers |= dict.fromkeys(implied_switches(catalog, given), True)
    with suppress(AnswerError):  # `resolve` will raise it
        hardware.complete(answers, given, traits(catalog, answers))
    options = catalog.settings
    return {
        key: answers[key]
        for key in options
        if key in given or (key in effective and applies(catalog, options[key], answers))
    }


def effective_answers(catalog: Catalog, answers: Mapping[str, Value]) -> Answers:
    """The answers that have an effect, of settings that this version has."""
    options = catalog.settings
    known: Answers = {}
    for key, option in options.items():
        if key in answers:
            with suppress(AnswerError):  # a value that only other versions allow
                known[key] = check(option, answers[key])
    everything = {**default_answers(catalog, known), **known}
    return {
        key: value for key, value in known.items() if applies(catalog, options[key], everything)
    }
