"""The answers of a project from what a Trainer was told."""

from scaffold.answers.catalog import Catalog
from scaffold.answers.check import check, find_option
from scaffold.answers.resolve import Answers, resolve
from scaffold.eject.plan import Plan
from scaffold.errors import AnswerError

OFF = ("schedule", "predict", "clipping")  # unless the script says so: its own lines do it


def complete(catalog: Catalog, plan: Plan, name: str) -> Answers:
    """All answers. A value that a setting does not allow becomes a TODO."""
    given: Answers = {"project.task": "own"}
    for feature in OFF:
        given[f"features.{feature}.enabled"] = False
    named = "".join(letter if letter.isalnum() else "-" for letter in name).strip("-") or "ejected"
    for key, value in {"project.name": named, **plan.answers}.items():
        try:
            option = find_option(catalog, key)
            kind = type(option.default)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            given[key] = check(option, kind(value) if kind in (int, float) and number else value)
        except AnswerError as error:
            plan.refuse(f"{key} = {value!r}", str(error))
    return resolve(catalog, given)
