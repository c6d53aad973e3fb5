"""Which questions are open and what they say: no terminal, no disk.

The questions depend on the answers so far, and are worked out again after each answer. Going back
removes the last reply, so that no answer outlives its question.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from scaffold.answers import hardware
from scaffold.answers.catalog import Catalog, Choice, Feature, Option, Value, read_about
from scaffold.answers.check import check, parse_text
from scaffold.answers.data import Finding
from scaffold.answers.resolve import Answers, applies, fits, is_on, resolve
from scaffold.errors import AnswerError

FEATURES, FINER = (
    "features",
    "finer",
)  # the keys of the two questions that are not about a single setting

MOST_COLUMNS = 100  # in a menu
Typed = str | list[str]  # a list from a menu with checkboxes


@dataclass(frozen=True)
class Question:
    """One question: a line to type on, or a menu where there are choices."""

    key: str
    text: str
    default: Typed
    parse: Callable[[Any], Answers]  # raises AnswerError
    choices: tuple[Choice, ...] = ()  # those that are left
    ruled_out: Mapping[str, str] = field(
        default_factory=dict
    )  # the other choices, and why they are not allowed
    descriptions: Mapping[str, str] = field(default_factory=dict)  # of choices: a filter finds them
    is_path: bool = False  # Tab completes it
    help: str = ""
    accelerate_key: str = ""  # where Accelerate calls it by another name


@dataclass
class Interview:
    """What is known so far. `next_question`, `answer` and `take_back` lead through it."""

    catalog: Catalog
    given: Answers
    remembered: Answers  # offered instead of defaults: answers from before going back
    replies: dict[str, Answers] = field(default_factory=dict)  # by question, in their order
    previous: Answers | None = None  # of the project to update; None for a new one
    kept: Answers = field(default_factory=dict)  # of what is offered, what stays unless it is asked
    columns: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # those of the data that are named, by the table of their settings

    def asked(self) -> Answers:
        return {key: v for reply in self.replies.values() for key, v in reply.items()}

    def resolve(self, more: Mapping[str, Value] | None = None) -> Answers:
        """All answers so far, with defaults. Raises AnswerError if `more` is not allowed."""
        answers = {**self.given, **self.asked(), **(more or {})}
        answers.pop(FINER, None)
        resolved = resolve(self.catalog, answers)
        options = self.catalog.settings
        kept = {
            key: value
            for key, value in self.kept.items()
            if key not in answers and applies(self.catalog, options[key], resolved)
        }
        return resolve(self.catalog, {**kept, **answers}) if kept else resolved

    def next_question(self) -> Question | None:
        """The first question without a reply, None after the last one."""
        key = next(open_questions(self, self.replies), "")
        return make_question(self, key) if key else None

    def parse(self, question: Question, typed: Typed) -> Answers:
        """The answers in a reply. Raises AnswerError if they are not allowed."""
        answers = question.parse(typed)
        self.resolve(answers)
        return answers

    def answer(self, question: Question, answers: Answers) -> None:
        """Note what `parse` returned."""
        defaults = {FINER: False, **self.resolve()}
        for key, value in answers.items():
            # an accepted default is left out: it may depend on answers that change
            self.remembered.pop(key, None)
            if value != defaults[key]:
                self.remembered[key] = value
        self.replies[question.key] = answers

    def take_back(self) -> str:
        """Reopen the last question. Returns its key."""
        key, _ = self.replies.popitem()
        return key


def begin(
    catalog: Catalog,
    given: Answers,
    folder_name: str,
    previous: Answers | None = None,
    imported: Collection[str] = (),
) -> Interview:
    """An interview that asks for what is not given.

    A new project is offered the name of its folder. `previous` are the answers of the project to
    update: they are offered instead of defaults, and stay where nothing is asked. The same holds
    for answers `imported` from an Accelerate file that only some launchers need, if the launcher is
    not chosen yet. Raises AnswerError for given answers that are not allowed.
    """
    options = catalog.settings
    offered = {key: given[key] for key in imported if hardware.LAUNCHER in options[key].when}
    if hardware.LAUNCHER in given:
        offered = {}
    own = _name_after(catalog, folder_name) if previous is None else _own_answers(catalog, previous)
    own |= offered
    interview = Interview(
        catalog,
        given={key: value for key, value in given.items() if key not in offered},
        remembered=dict(own),
        previous=previous,
        kept={k: v for k, v in own.items() if options[k].finer or not options[k].question},
    )
    interview.resolve()
    return interview


def _name_after(catalog: Catalog, folder_name: str) -> Answers:
    """The folder's name as the project's, if it is allowed."""
    try:
        return {"project.name": check(catalog.settings["project.name"], folder_name)}
    except AnswerError:
        return {}


def _own_answers(catalog: Catalog, previous: Answers) -> Answers:
    """The previous answers that had an effect, except those that follow from the name alone."""
    options = catalog.settings
    allowed: Answers = {}
    for key, option in options.items():
        with suppress(AnswerError):  # an answer of another version
            allowed[key] = check(option, previous.get(key, option.default))
    usual = resolve(catalog, {k: v for k, v in allowed.items() if k == "project.name"})
    allowed = {**usual, **allowed}
    return {
        key: allowed[key]
        for key, option in options.items()
        if key in previous
        and applies(catalog, option, allowed)
        and (allowed[key] != usual[key] or key == "project.name")
    }


# which questions there are


def open_questions(interview: Interview, answered: Collection[str] = ()) -> Iterator[str]:
    """The keys of the questions to ask given the answers so far, but for these, in order.

    One after the other: whether the others allow a choice takes long to find out.
    """
    plain = interview.catalog.plain_tables
    coarse = partial(_options_to_ask, interview, answered, finer=False)
    yield from (option.key for option in coarse(lambda table: table in plain))
    if FEATURES not in answered and _features_to_ask(interview):
        yield FEATURES
    yield from (option.key for option in coarse(lambda table: table not in plain))
    finer = partial(_options_to_ask, interview, finer=True)
    if FINER not in answered and any(True for _ in finer(())):
        yield FINER
    if interview.asked().get(FINER):
        yield from (option.key for option in finer(answered))


def _options_to_ask(
    interview: Interview,
    answered: Collection[str],
    of: Callable[[str], bool] = lambda table: True,
    *,
    finer: bool,
) -> Iterator[Option]:
    """The settings to ask for that have no reply yet, of the tables that are wanted."""
    answers = interview.resolve()
    switches = [feature.switch_key for feature in _features_to_ask(interview)]
    known = {*interview.given, *switches, *answered}
    for option in interview.catalog.settings.values():
        if (
            option.question
            and option.finer == finer
            and of(option.table)
            and option.key not in known
            and applies(interview.catalog, option, answers)
            and _is_open(interview, option, answers)
        ):
            yield option


def _features_to_ask(interview: Interview) -> list[Feature]:
    answers = interview.resolve()
    features = sorted(interview.catalog.features.values(), key=lambda feature: feature.name)
    return [
        feature
        for feature in features
        if not feature.switch
        and feature.switch_key not in interview.given
        and fits(interview.catalog, feature, answers)
    ]


def _is_open(interview: Interview, option: Option, answers: Mapping[str, Value]) -> bool:
    """Whether the other answers allow more than one value."""
    if option.key == hardware.PROCESSES:
        return answers[hardware.KIND] != "NO"
    if option.key == hardware.SHARDING and answers[hardware.KIND] == "NO":
        offered = {**answers, **interview.remembered}
        return offered[hardware.SHARDING] != "none"  # only an update can offer another one
    if option.type in ("bool", "choice"):
        return len(_choices(option)) - len(_rule_out(interview, option)) > 1
    return True


def _choices(option: Option) -> tuple[Choice, ...]:
    return (Choice("yes", ""), Choice("no", "")) if option.type == "bool" else option.choices


def _rule_out(interview: Interview, option: Option) -> dict[str, str]:
    """The choices that the answers so far rule out, and why."""
    reasons = {}
    for choice in _choices(option):
        try:
            interview.resolve({option.key: parse_text(option, choice.value)})
        except AnswerError as error:
            reasons[choice.value] = str(error)
    return reasons


def find_columns(found: Mapping[str, Finding]) -> dict[str, tuple[str, ...]]:
    """The columns of the data that were found, by the table of their settings, for menus."""
    tables = {key.rpartition(".")[0]: finding for key, finding in reversed(list(found.items()))}
    return {
        table: finding.columns
        for table, finding in tables.items()
        if len(finding.columns) <= MOST_COLUMNS and all(map(_fits_in_menu, finding.columns))
    }


def _fits_in_menu(column: str) -> bool:
    """Several columns are separated by commas, and blanks around a reply are left out."""
    return bool(column) and column == column.strip() and "," not in column


# what they say


def make_question(interview: Interview, key: str) -> Question:
    defaults = interview.resolve() | interview.remembered
    if key == FEATURES:
        return _feature_question(_features_to_ask(interview), defaults)
    if key == FINER:
        finer = _options_to_ask(interview, (), finer=True)
        tables = dict.fromkeys(option.key.split(".")[-2] for option in finer)
        keep = "keep the defaults" if interview.previous is None else "keep them as they are"
        return _finer_question(list(tables), bool(defaults.get(FINER)), keep)
    option = interview.catalog.settings[key]
    if option.column and (columns := interview.columns.get(option.table)):
        return _column_question(option, columns, str(defaults[key]))
    ruled_out = _rule_out(interview, option)
    choices = tuple(choice for choice in _choices(option) if choice.value not in ruled_out)
    default = as_shown(defaults[key])
    if choices and default not in [choice.value for choice in choices]:
        # what was answered before going back is no longer allowed
        default = as_shown(interview.resolve()[key])
    accelerate_key = option.accelerate.rpartition(".")[2]
    return Question(
        key=key,
        text=option.question,
        default=default,
        parse=lambda typed: {key: parse_text(option, typed or default)},
        choices=choices,
        ruled_out=ruled_out,
        is_path=bool(option.path),
        help="" if choices else option.comment,
        accelerate_key="" if accelerate_key == option.name else accelerate_key,
    )


def _column_question(option: Option, columns: tuple[str, ...], default: str) -> Question:
    """A menu of the columns of the data. The last one is offered if the default is none of them."""
    choices = tuple(Choice(column, "") for column in dict.fromkeys(columns))
    if option.column == "several":
        picked = [part for part in default.split(",") if part in columns]
        return Question(
            key=option.key,
            text=option.question,
            default=picked,
            parse=lambda typed: {option.key: parse_text(option, ",".join(typed))},
            choices=choices,
        )
    return Question(
        key=option.key,
        text=option.question,
        default=default if default in columns else columns[-1],
        parse=lambda typed: {option.key: parse_text(option, typed)},
        choices=choices,
    )


def _feature_question(features: list[Feature], defaults: Answers) -> Question:
    return Question(
        key=FEATURES,
        text="Which features?",
        default=[feature.name for feature in features if is_on(feature, defaults)],
        parse=lambda typed: {feature.switch_key: feature.name in typed for feature in features},
        choices=tuple(Choice(feature.name, feature.help) for feature in features),
        descriptions={
            feature.name: " ".join(f"{feature.title} {read_about(feature)}".split())
            for feature in features
        },
    )


def _finer_question(tables: list[str], default: bool, keep: str) -> Question:
    return Question(
        key=FINER,
        text="Show the advanced settings?",
        default=as_shown(default),
        parse=lambda typed: {FINER: typed == "yes"},
        choices=(Choice("no", keep), Choice("yes", f"of {', '.join(tables)}")),
    )


def in_words(catalog: Catalog, refused: AnswerError) -> str:
    """Why features can't be on together, in the words of their menu and of the other questions."""
    features = {f.switch_key: f for f in catalog.features.values() if not f.switch}
    if refused.key not in features:
        return str(refused)
    name = features[refused.key].name

    def say(found: re.Match[str]) -> str:
        key, value = found["key"], found["value"]
        if key in features:
            return f"turn {features[key].name} on too, or {name} off."
        question = catalog.settings[key].question
        how = f"start again with --set {key}={value}"
        if question:
            how = f'go back to "{question}" and choose {value}'
        return f"{how}, or turn {name} off."

    setting = r"(?P<key>\w+(\.\w+)+)=(?P<value>\S+)\.$"
    reason = re.sub(rf"turn it off, or set {setting}", say, refused.reason)
    return f"{name}: {re.sub(f'turn it on with {setting}', say, reason)}"


def as_shown(value: Value) -> str:
    """A value as the user types and sees it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
