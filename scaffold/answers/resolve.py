"""The answers that a project is generated from: defaults, and what goes together.

Answers are one flat dictionary from key to value, `{"training.epochs": 20, ...}`. A feature that
no other setting turns on has the key `features.NAME.enabled`; `features.NAME` alone is short for
that key, or for the feature's choice.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NoReturn

from scaffold.answers import hardware
from scaffold.answers.catalog import (
    Catalog,
    Choice,
    Component,
    Feature,
    Option,
    Task,
    Value,
    as_typed,
)
from scaffold.answers.check import check
from scaffold.errors import AnswerError

Answers = dict[str, Value]

LOOP = "project.loop"  # the key of how much of a loop is written


def is_on(feature: Feature, answers: Mapping[str, Value]) -> bool:
    return feature.is_on_with(answers[feature.switch_key])


def active_features(catalog: Catalog, answers: Mapping[str, Value]) -> list[Feature]:
    """The features that are on, in the order in which their code is placed."""
    return [feature for feature in catalog.features.values() if is_on(feature, answers)]


def traits(catalog: Catalog, answers: Mapping[str, Value]) -> set[str]:
    """The traits of the task, with those that its answers give it. Missing answers are defaults."""
    task = catalog.tasks[str(answers["project.task"])]

    def answer(key: str) -> Value:
        return answers[key] if key in answers else task.usual[key]

    found, lacking = set(task.has), set[str]()
    for option in task.deciding_traits:
        if all(condition.holds(answer(key)) for key, condition in option.when.items()):
            chosen = answer(option.key)
            found |= {trait for trait, value in option.traits if chosen == value}
            lacking.update(*(choice.lacks for choice in option.choices if chosen == choice.value))
    return found - lacking


def answers_for(
    catalog: Catalog, feature: Feature, answers: Mapping[str, Value]
) -> Mapping[str, Value]:
    """The answers to change so that the task has the traits that a feature needs.

    Missing answers are defaults. Empty if the task has these traits, or can't have them.
    """
    task, changed = catalog.tasks[str(answers["project.task"])], dict[str, Value]()
    if set(feature.needs) <= traits(catalog, answers):
        return changed
    for name in feature.needs:
        for option in task.deciding_traits:  # without a choice that takes it from the task
            now = {**task.usual, **answers, **changed}
            if name not in traits(catalog, now) and now[option.key] in option.taking(name):
                changed[option.key] = option.default
        for option, value in (
            (part, value) for part in task.deciding_traits for value in part.giving(name)
        ):
            now = {**task.usual, **answers, **changed}
            if name not in traits(catalog, now):
                for key, condition in option.when.items():
                    if not condition.holds(now[key]):
                        changed[key] = condition.values[0]
                changed[option.key] = value
    return changed


def fits(catalog: Catalog, feature: Feature, answers: Mapping[str, Value]) -> bool:
    """Whether a feature can go with the task and its choices."""
    task = catalog.tasks[str(answers["project.task"])]
    if rules_out(feature, task):
        return False
    if set(feature.needs) <= task.always_has:  # most of them: the rest takes longer
        return True
    return can_fit(feature, task) and set(feature.needs) <= traits(catalog, answers)


def can_fit(feature: Feature, task: Task) -> bool:
    """Whether a feature can go with a task, perhaps only with some of its choices."""
    return set(feature.needs) <= task.can_have and not rules_out(feature, task)


def rules_out(feature: Feature, task: Task) -> bool:
    """Whether a feature refuses a task by its name."""
    return task.name in feature.excludes.get("project.task", ())


def required(catalog: Catalog, feature: Feature) -> list[Feature]:
    """The features that a feature requires, directly or not, in the order to turn them on."""
    found: list[Feature] = []
    for name in feature.requires:
        other = catalog.features[name]
        found += [*required(catalog, other), other]
    return found


def applies(catalog: Catalog, option: Option, answers: Mapping[str, Value]) -> bool:
    """Whether a setting has an effect, given the other answers."""
    if option.task and option.task != answers["project.task"]:
        return False
    if option.feature:
        feature = catalog.features[option.feature]
        if not fits(catalog, feature, answers):
            return False
        if option.key != feature.switch_key and not is_on(feature, answers):
            return False
    return all(condition.holds(answers[key]) for key, condition in option.when.items())


def default_answers(catalog: Catalog, given: Mapping[str, Value]) -> Answers:
    """The default of each setting, for the given task and choices.

    Raises AnswerError for an unknown task.
    """
    options = catalog.settings
    key = "project.task"
    task = catalog.tasks[str(check(options[key], given.get(key, options[key].default)))]
    answers = {**catalog.usual[task.name], key: task.name}
    chosen: list[tuple[str, Choice]] = []
    for option in catalog.deciding:
        if option.task in ("", task.name):
            value = given.get(option.key, answers[option.key])
            for choice in option.choices:
                if choice.value == value:
                    chosen.append((f"{option.key}={value}", choice))
                    answers |= choice.defaults
    now = {**answers, **given}
    for feature in catalog.features.values():
        if feature.defaults and is_on(feature, now):
            answers |= feature.defaults
            answers |= task.defaults_with.get(f"features.{feature.name}", {})
    for name, choice in chosen:  # last: they change the defaults of the task and its choices
        for changed, factor in choice.factors.items():
            answers[changed] = float(f"{float(answers[changed]) * factor:.3g}")
        answers |= task.defaults_with.get(name, {})
    now = {**answers, **given}
    has = traits(catalog, now)
    chosen_features = _chosen_features(catalog, given, now)
    for feature in catalog.features.values():
        # what a task or a choice turns on gives way to a feature that excludes it
        suggested = not feature.default and feature.name not in chosen_features
        gives_way = (suggested and is_on(feature, now)) and any(
            feature.name in one.conflicts or one.name in feature.conflicts
            for one in chosen_features.values()
        )
        if gives_way or rules_out(feature, task) or not has.issuperset(feature.needs):
            answers[feature.switch_key] = feature.off
    return answers


def _chosen_features(
    catalog: Catalog, given: Mapping[str, Value], answers: Answers
) -> dict[str, Feature]:
    """The features that are on because of a given answer, by name."""
    implied = {*implied_switches(catalog, given)}
    return {
        feature.name: feature
        for feature in catalog.features.values()
        if feature.switch_key in implied
        or (feature.switch_key in given and is_on(feature, answers))
    }


def resolve(
    catalog: Catalog, given: Mapping[str, Value], fresh: Collection[str] | None = None
) -> Answers:
    """All answers: the given ones, and defaults for the rest.

    `fresh` are the keys that were given now; the others are previous answers, which may change with
    the fresh ones. Raises AnswerError for an answer that is not allowed, alone or with the others.
    """
    options = catalog.settings
    answers = default_answers(catalog, given)
    if given.get(LOOP) == "minimal":
        answers |= {f.switch_key: f.off for f in catalog.features.values() if not f.minimal}
    answers |= {key: check(options[key], given[key]) for key in options if key in given}
    answers |= dict.fromkeys(implied_switches(catalog, given), True)
    for option in catalog.following:
        if option.key not in given:
            answers[option.key] = answers[option.default_from]
    fresh = given if fresh is None else fresh
    hardware.complete(answers, fresh, traits(catalog, answers))
    _check_features(catalog, answers)
    _check_choices(catalog, answers)
    for key in given:
        _check_effect(catalog, options[key], answers)
    return answers


def implied_switches(catalog: Catalog, given: Collection[str]) -> Iterator[str]:
    """The keys of features that are on because one of their options is given.

    In scaffold.toml, a feature's table does the same.
    """
    for table in dict.fromkeys(key.rpartition(".")[0] for key in given):
        feature = catalog.features.get(table.removeprefix("features."))
        if feature is None or feature.switch or table != f"features.{feature.name}":
            continue
        if feature.switch_key not in given:
            yield feature.switch_key


def _check_features(catalog: Catalog, answers: Answers) -> None:
    """Raises AnswerError for a feature that the task or another feature rules out."""
    has = traits(catalog, answers)
    for feature in active_features(catalog, answers):
        if not feature.minimal and answers[LOOP] == "minimal":
            raise AnswerError(
                feature.switch_key,
                f"the minimal loop does not support it: turn it off, or set {LOOP}=complete.",
            )
        if set(feature.needs) - has:
            _refuse_needs(catalog, feature, answers)
        for name in feature.requires:
            if not is_on(catalog.features[name], answers):
                other = catalog.features[name]
                setting = f"{other.switch_key}={as_typed(other.example)}"
                raise AnswerError(
                    feature.switch_key,
                    f"needs the feature {name}: turn it on with {setting}.",
                )
        for name in feature.conflicts:
            if is_on(catalog.features[name], answers):
                raise AnswerError(
                    feature.switch_key,
                    f"can't be combined with the feature {name}: turn one of them off.",
                )
        _check_excludes(catalog, answers, feature.switch_key, "", feature)
        if any(option.name == "monitor" for option in feature.options):
            monitored(catalog, feature, answers)


def _refuse_needs(catalog: Catalog, feature: Feature, answers: Answers) -> NoReturn:
    """Raises AnswerError for a feature that needs what the task or its choices lack."""
    task, has = catalog.tasks[str(answers["project.task"])], traits(catalog, answers)
    never = [name for name in feature.needs if name not in task.can_have]
    missing = never or [name for name in feature.needs if name not in has]
    needed = " and ".join(catalog.traits[name].help for name in missing)
    if never:
        tasks = [other.name for other in catalog.tasks.values() if can_fit(feature, other)]
        reason = f"needs {needed}, which {task.name} does not have"
        instead = f"use {' or '.join(tasks) if len(tasks) < 12 else 'another task'}"
    else:
        reason = f"needs {needed}"
        settings = answers_for(catalog, feature, answers).items()
        instead = f"set {' and '.join(f'{key}={as_typed(value)}' for key, value in settings)}"
    raise AnswerError(feature.switch_key, f"{reason}: turn it off, or {instead}.")


def _check_choices(catalog: Catalog, answers: Answers) -> None:
    """Raises AnswerError for a choice that the task or another choice rules out."""
    task, has = catalog.tasks[str(answers["project.task"])], traits(catalog, answers)
    for option in catalog.deciding:
        if not applies(catalog, option, answers):
            continue
        choice = next(choice for choice in option.choices if choice.value == answers[option.key])
        missing = [name for name in choice.needs if name not in has]
        if missing:
            needed = " and ".join(catalog.traits[name].help for name in missing)
            with_these = " with these answers" if task.can_have.issuperset(missing) else ""
            others = " or ".join(c.value for c in option.choices if set(c.needs) <= has)
            raise AnswerError(
                option.key,
                f"{choice.value} needs {needed}, which {task.name} does not have{with_these}: "
                f"use {others}.",
            )
        _check_excludes(catalog, answers, option.key, f"{choice.value} ", choice)


def _check_excludes(
    catalog: Catalog, answers: Answers, named: str, subject: str, part: Choice | Feature
) -> None:
    """Raises AnswerError for an answer with which a choice or a feature can't work."""
    for key, values in part.excludes.items():
        if answers[key] in values and applies(catalog, catalog.settings[key], answers):
            text = f"{subject}can't be combined with {key}={as_typed(answers[key])}"
            reason = part.reasons.get(key)
            raise AnswerError(named, f"{text}: {reason}." if reason else f"{text}.")


def chosen(
    catalog: Catalog, component: Component, answers: Mapping[str, Value]
) -> Iterator[Choice]:
    """The choices of a component that are made and have an effect."""
    for option in component.options:
        if applies(catalog, option, answers):
            yield from (choice for choice in option.choices if choice.value == answers[option.key])


def task_values(catalog: Catalog, answers: Mapping[str, Value]) -> dict[str, Any]:
    """What templates may read about the task, including what its choices and the loop change."""
    task = catalog.tasks[str(answers["project.task"])]
    values = {"metrics": task.metrics, **task.values}
    for choice in (*chosen(catalog, catalog.base, answers), *chosen(catalog, task, answers)):
        values |= choice.values
    return values


def monitored(catalog: Catalog, feature: Feature, answers: Mapping[str, Value]) -> tuple[str, bool]:
    """The logged value that a feature monitors, and whether higher is better.

    Raises AnswerError for a value that is not logged, or whose direction is not known.
    """
    task = task_values(catalog, answers)
    table = f"features.{feature.name}"
    name = str(answers[f"{table}.monitor"]) or task["metric"]
    active = active_features(catalog, answers)
    measured = [*task["metrics"], *(metric for other in active for metric in other.metrics)]
    sets = ["val", *(name for other in active for name in other.sets)]
    logged = [task["metric"], *(f"{part}_{metric}" for part in sets for metric in measured)]
    if all(other.logs_train_loss for other in active):
        logged.append("train_loss")
    if name not in logged:
        allowed = ", ".join(dict.fromkeys(logged))
        raise AnswerError(f"{table}.monitor", f"{name!r} is not logged: choose from {allowed}.")
    mode = answers[f"{table}.mode"]
    if mode != "auto":
        return name, mode == "max"
    if name == task["metric"]:
        return name, task["higher_is_better"]
    if name.endswith("_loss"):
        return name, False
    raise AnswerError(
        f"{table}.mode", f"it is not known whether a higher {name} is better: use min or max."
    )


def _check_effect(catalog: Catalog, option: Option, answers: Answers) -> None:
    """Raises AnswerError for a given setting that has no effect with the others."""
    if option.task and option.task != answers["project.task"]:
        raise AnswerError(option.key, f"has an effect only with project.task={option.task}.")
    if option.feature and not is_on(catalog.features[option.feature], answers):
        return  # kept in case the feature is turned on
    if answers[option.key] == option.default:
        return  # a row of a file that was written with other answers
    for key, condition in option.when.items():
        if not condition.holds(answers[key]):
            raise AnswerError(option.key, f"has an effect only with {key}{condition}.")
