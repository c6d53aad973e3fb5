"""The questions of a page: all that are open at once, with what the visitor has answered so far.

They are those of the terminal. There, a question knows the answers before it; here, the last answer
wins: earlier ones that can't be combined with it go back to their defaults, and the page says so.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scaffold.answers.catalog import Catalog, Feature, Option, Value, as_typed
from scaffold.answers.check import find_option, parse_text
from scaffold.answers.data import Finding
from scaffold.answers.questions import (
    FEATURES,
    FINER,
    Interview,
    Question,
    as_shown,
    find_columns,
    in_words,
    make_question,
    open_questions,
)
from scaffold.answers.resolve import Answers, is_on
from scaffold.errors import AnswerError

Resolve = Callable[[Answers], Answers]  # all answers, from those that were given
Look = Callable[[Answers], Mapping[str, Finding]]  # what the data hold that the answers name


@dataclass(frozen=True)
class Wishes:
    """What a visitor has answered."""

    kept: Answers  # those that hold, in their order
    answers: Answers  # all, with defaults
    dropped: Mapping[str, str] = field(default_factory=dict)  # by key: why it does not hold
    wrong: Mapping[str, str] = field(default_factory=dict)  # by key: why it is not a value


def settle(catalog: Catalog, texts: Mapping[str, str], resolve: Resolve) -> Wishes:
    """The answers that hold together, of what was typed or is in a link, the last one last."""
    given: Answers = {}
    wrong: dict[str, str] = {}
    for key, text in texts.items():
        try:
            given[key] = parse_text(find_option(catalog, key), text)
        except AnswerError as error:
            wrong[key] = error.reason
    try:
        return Wishes(given, resolve(given), {}, wrong)
    except AnswerError:
        kept, dropped = _settle(catalog, given, resolve)
        return Wishes(kept, resolve(kept), dropped, wrong)


def _settle(catalog: Catalog, given: Answers, resolve: Resolve) -> tuple[Answers, dict[str, str]]:
    """Accepts one answer after the other; each may replace those before it."""
    kept: Answers = {}
    dropped: dict[str, str] = {}
    for key, value in given.items():
        refused = _refused({**kept, key: value}, resolve)
        reason = in_words(catalog, refused) if refused else ""
        accepted = _accept(kept, key, value, resolve)
        if accepted is None:
            dropped[key] = reason
        else:
            dropped |= dict.fromkeys(kept.keys() - accepted.keys(), reason)
            kept = accepted
    return kept, dropped


def _accept(kept: Answers, key: str, value: Value, resolve: Resolve) -> Answers | None:
    """The answers with one more, without those that don't go with it. None if it can't be."""
    kept = {name: other for name, other in kept.items() if name != key}
    for fewer in (kept, *_with_less(kept)):
        if _refused({**fewer, key: value}, resolve) is None:
            return {**fewer, key: value}
    return None


def _with_less(kept: Answers) -> Iterator[Answers]:
    """The answers without one of them, the newest first; then without all."""
    for left_out in reversed(kept):
        yield {key: value for key, value in kept.items() if key != left_out}
    yield {}


def _refused(given: Answers, resolve: Resolve) -> AnswerError | None:
    try:
        resolve(given)
    except AnswerError as error:
        return error
    return None


@dataclass
class _Form(Interview):
    """An interview in which every question has a reply."""

    resolver: Resolve | None = None
    known: Answers = field(default_factory=dict)
    lenient: bool = False
    tried: dict[tuple[str, Value], Answers | AnswerError] = field(default_factory=dict)

    def resolve(self, more: Mapping[str, Value] | None = None) -> Answers:
        """As that of an interview; each choice is tried once, which takes most of the time."""
        if not more:
            return self.known
        [change] = more.items()
        if change not in self.tried:
            self.tried[change] = self._try(dict(more))
        found = self.tried[change]
        if not isinstance(found, AnswerError):
            return found
        if self.lenient and self.resets(*change):
            return self.known
        raise found

    def _try(self, more: Answers) -> Answers | AnswerError:
        assert self.resolver
        try:
            return self.resolver({**self.replies["page"], **more})
        except AnswerError as error:
            return error

    def resets(self, key: str, value: Value) -> list[str]:
        """The answers that would go back to their defaults with this one. Empty if it can't be."""
        assert self.resolver
        kept = self.replies["page"]
        accepted = _accept(kept, key, value, self.resolver) or kept
        return [name for name in kept if name not in accepted]


def make_form(
    catalog: Catalog,
    wishes: Wishes,
    resolve: Resolve,
    previous: Answers | None = None,
    look: Look | None = None,
) -> dict[str, Any]:
    """What the page shows, as JSON: questions by table, and features with theirs."""
    found = look(wishes.answers) if look else {}
    form = _Form(
        catalog,
        given={},
        remembered={},
        replies={"page": dict(wishes.kept), FINER: {FINER: True}},
        previous=previous,
        columns=find_columns(found),
        resolver=resolve,
        known=wishes.answers,
    )
    form.lenient = True  # a question stays open if another answer can be taken back for it
    keys = [key for key in open_questions(form) if key not in (FEATURES, FINER)]
    form.lenient = False
    usual = _without_each(wishes, resolve)
    asked = {
        key: _question(
            form, make_question(form, key), wishes, usual, str(found[key]) if key in found else ""
        )
        for key in keys
    }
    inside = {f"features.{name}" for name in catalog.features}
    tables: dict[str, list[dict[str, Any]]] = {}
    for key, question in asked.items():
        table = key.rpartition(".")[0]
        tables.setdefault(table, []).append(question)
    return {
        "tables": [
            {"name": name, "title": _title(catalog, name), "questions": questions}
            for name, questions in tables.items()
            if name not in inside
        ],
        "features": list(_features(form, wishes, usual, tables)),
        "dropped": dict(wishes.dropped),
        "wrong": dict(wishes.wrong),
        "wishes": {key: as_typed(value) for key, value in wishes.kept.items()},
    }


def _title(catalog: Catalog, table: str) -> str:
    component = catalog.tasks.get(table) or catalog.features.get(table)
    return component.title if component else table.replace("_", " ").capitalize()


def _without_each(wishes: Wishes, resolve: Resolve) -> Answers:
    """What each answer would be if it had not been given."""
    usual = dict(wishes.answers)
    for key in wishes.kept:
        fewer = {name: value for name, value in wishes.kept.items() if name != key}
        if _refused(fewer, resolve) is None:
            usual[key] = resolve(fewer)[key]
    return usual


def _question(
    form: _Form, question: Question, wishes: Wishes, usual: Answers, found: str
) -> dict[str, Any]:
    option = form.catalog.settings[question.key]
    several, is_bool = isinstance(question.default, list), option.type == "bool"
    choices: list[dict[str, Any]] = [
        {"value": choice.value, "help": choice.help} for choice in question.choices
    ]
    for name, reason in question.ruled_out.items():
        resets = form.resets(option.key, parse_text(option, name))
        why = reason.removeprefix(f"{option.key}: ")
        choices.append({"value": name, "help": _help(option, name), "why": why, "resets": resets})
    order = {choice.value: place for place, choice in enumerate(option.choices)}
    choices.sort(key=lambda choice: order.get(choice["value"], 0))
    return {
        "key": question.key,
        "text": question.text,
        "help": option.comment,
        "value": question.default,
        "default": as_shown(usual[question.key]),
        "kind": "columns" if several else "choice" if choices and not is_bool else option.type,
        "choices": choices,
        "accelerate": question.accelerate_key,
        "finer": option.finer,
        "field": option.field if option.config else "",
        "isSet": question.key in wishes.kept,
        "found": found,
    }


def _help(option: Option, value: str) -> str:
    return next((choice.help for choice in option.choices if choice.value == value), "")


def _features(
    form: _Form, wishes: Wishes, usual: Answers, tables: Mapping[str, list[dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Each feature that goes with the task, with the questions of those that are on."""
    offered = make_question(form, FEATURES)
    for choice in offered.choices:
        feature = form.catalog.features[choice.value]
        key, on = feature.switch_key, is_on(feature, wishes.answers)
        why = _why_not(form, feature, not on)
        yield {
            "name": feature.name,
            "key": key,
            "title": feature.title,
            "help": feature.help,
            "on": on,
            "default": is_on(feature, usual),
            "why": why,
            "resets": form.resets(key, feature.off if on else feature.example) if why else [],
            "isSet": key in wishes.kept,
            "questions": tables.get(f"features.{feature.name}", []),
        }


def _why_not(form: _Form, feature: Feature, on: bool) -> str:
    """Why a feature can't be turned on, or off, as things are. Empty if it can."""
    try:
        form.resolve({feature.switch_key: feature.example if on else feature.off})
    except AnswerError as error:
        return in_words(form.catalog, error).removeprefix(f"{feature.name}: ")
    return ""
