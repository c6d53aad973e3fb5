"""The answers of a project that exists: those of the last time, and what was changed since."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from scaffold.answers import hardware
from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.schema import (
    Answers,
    applies,
    check,
    default_answers,
    implied_switches,
    read_answers,
    resolve,
    schema,
)
from scaffold.errors import AnswerError
from scaffold.project.pristine import Pristine
from scaffold.project.read import read_text

SETTINGS = "scaffold.toml"


def next_answers(
    catalog: Catalog, folder: Path, pristine: Pristine, fresh: Mapping[str, Value]
) -> Answers:
    """All answers: those of the last time, the owner's in scaffold.toml over them, then `fresh`.

    Raises ScaffoldError, or AnswerError for answers that do not go together.
    """
    edited = edited_answers(catalog, folder, pristine)
    for key in fresh:
        # an option that is given turns its feature on, whatever its table in the file says
        table = key.rpartition(".")[0]
        if table.startswith("features.") and f"{table}.enabled" not in fresh:
            edited.pop(f"{table}.enabled", None)
    given = {**edited, **fresh}
    return resolve(catalog, complete(catalog, given, pristine.answers), fresh=given)


def edited_answers(catalog: Catalog, folder: Path, pristine: Pristine) -> Answers:
    """What the owner answers otherwise in scaffold.toml than at the last render.

    Raises ScaffoldError if the file can't be read or has an answer that is not allowed.
    """
    text = read_text(folder, pristine.place(SETTINGS))
    if text is None or text == pristine.files.get(SETTINGS):
        return {}
    path = folder / pristine.place(SETTINGS)
    given = read_answers(catalog, path, obsolete=pristine.answers)
    edited = {
        key: value
        for key, value in given.items()
        if key not in pristine.answers or pristine.answers[key] != value
    }
    for key in list(edited):
        # a row of a feature that is off in the file leaves it off
        switch = f"{key.rpartition('.')[0]}.enabled"
        if switch in given:
            edited[switch] = given[switch]
    return edited


def complete(
    catalog: Catalog, given: Mapping[str, Value], previous: Mapping[str, Value]
) -> Answers:
    """The given answers, and those previous ones that had an effect and have one beside them."""
    effective = effective_answers(catalog, previous)
    task = "project.task"
    if given.get(task, effective.get(task)) != effective.get(task):
        # what was a default of the other task follows from this one
        usual = default_answers(catalog, effective)
        effective = {key: value for key, value in effective.items() if value != usual[key]}
    known = {**effective, **given}
    # what was a default, and is another beside a choice that is given, follows from that
    usual, other = default_answers(catalog, effective), default_answers(catalog, known)
    follows = {key for key, value in effective.items() if value == usual[key] != other[key]}
    known = {key: value for key, value in known.items() if key in given or key not in follows}
    effective = {key: value for key, value in effective.items() if key not in follows}
    answers = {**default_answers(catalog, known), **known}
    answers |= dict.fromkeys(implied_switches(catalog, given), True)
    with suppress(AnswerError):  # which `resolve` will raise
        hardware.complete(answers, given)
    options = schema(catalog)
    return {
        key: answers[key]
        for key in options
        if key in given or (key in effective and applies(catalog, options[key], answers))
    }


def effective_answers(catalog: Catalog, answers: Mapping[str, Value]) -> Answers:
    """The answers that have an effect, of settings that this version has."""
    options = schema(catalog)
    known: Answers = {}
    for key, option in options.items():
        if key in answers:
            with suppress(AnswerError):  # a value that only another version allows
                known[key] = check(option, answers[key])
    everything = {**default_answers(catalog, known), **known}
    return {
        key: value for key, value in known.items() if applies(catalog, options[key], everything)
    }
