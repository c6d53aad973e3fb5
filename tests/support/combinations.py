"""Combinations of features and choices: which there are, and the answers that make them."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from scaffold.answers.catalog import Catalog, Component, Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import Answers, answers_for, can_fit, resolve, rules_out
from scaffold.errors import AnswerError
from support.shared import made_once


@dataclass(frozen=True)
class Way:
    """One way in which a feature can be on."""

    feature: str
    given: tuple[tuple[str, Value], ...]

    def __str__(self) -> str:
        return "+".join(f"{key.removeprefix('features.')}={value}" for key, value in self.given)


def ways(catalog: Catalog, feature: Component) -> list[Way]:
    """All ways in which a feature can be on: one for each of its choices."""
    if feature.switch:
        option = catalog.settings[feature.switch]
        values = [choice.value for choice in option.choices if feature.is_on_with(choice.value)]
        values = values or [feature.example]
        return [Way(feature.name, ((feature.switch, value),)) for value in values]
    key = feature.switch_key
    if not feature.choice:
        return [Way(feature.name, ((key, True),))]
    option = feature.option(feature.choice)
    given = (((key, True), (option.key, choice.value)) for choice in option.choices)
    return [Way(feature.name, each) for each in given]


DEVICES = "hardware.distributed_type"
# what a way refuses to do without
BESIDE: dict[str, tuple[tuple[str, Value], ...]] = {
    "attention.enabled=True+attention.implementation=flash_attention_2": (
        ("hardware.mixed_precision", "bf16"),
    ),
    "stochastic_depth.enabled=True": (("image_classification.model", "timm"),),
}


def given_for(catalog: Catalog, on: Sequence[Way], **extra: Value) -> Answers:
    """Answers to give so that these features are on, those they require too, and no others.

    If the task has the traits that they need only with a choice, it is made.
    """
    given: Answers = {"project.name": "example"}
    # what it runs on follows from the others
    features = [part for part in catalog.features.values() if part.switch != DEVICES]
    given |= {feature.switch_key: feature.off for feature in features}
    pending = [way.feature for way in on]
    while pending:
        feature = catalog.features[pending.pop()]
        given[feature.switch_key] = feature.example
        pending += feature.requires
    more = {key.replace("__", "."): value for key, value in extra.items()}
    task = {"project.task": more.get("project.task", FIRST_TASK)}
    for way in on:
        given |= {**answers_for(catalog, catalog.features[way.feature], task), **dict(way.given)}
    for key, value in (item for way in on for item in BESIDE.get(str(way), ())):
        if given.get(key) in (None, "no"):  # no other way has set it
            given[key] = value
    return given | more


def fitting(catalog: Catalog, task: str) -> list[Component]:
    """The features that can go with the default choices of a task: those that are trained here."""
    return [feature for feature in catalog.features.values() if suits(catalog, feature.name, task)]


def possible(catalog: Catalog, task: str) -> list[Component]:
    """The features that can go with a task, also those that need a choice, such as a download."""
    given = {"project.task": task}
    there = {feature.name for feature in fitting(catalog, task)}
    return [
        feature
        for feature in catalog.features.values()
        if feature.name in there
        or (can_fit(feature, catalog.tasks[task]) and answers_for(catalog, feature, given))
    ]


def suits(catalog: Catalog, name: str, task: str) -> bool:
    """Whether a feature, and those that it requires, can go with a task's default choices."""
    feature = catalog.features[name]
    if rules_out(feature, catalog.tasks[task]):
        return False
    return set(feature.needs) <= set(catalog.tasks[task].has) and all(
        suits(catalog, other, task) for other in feature.requires
    )


_conflicts: dict[tuple[Way, ...], bool] = {}


def conflict(catalog: Catalog, on: Sequence[Way], task: str = "") -> bool:
    """Whether these ways can't stand beside each other."""
    key = (*on, Way(task, ()))
    if key not in _conflicts:
        extra = {"project__task": task} if task else {}
        try:
            answers = resolve(catalog, given_for(catalog, on, **extra))
            # two choices of one option: the second has won
            given = [item for way in on for item in way.given]
            _conflicts[key] = any(answers[name] != value for name, value in given)
        except AnswerError:
            _conflicts[key] = True
    return _conflicts[key]


def as_many_as_possible(
    catalog: Catalog, first: Sequence[Way] = (), task: str = "image_classification"
) -> list[Way]:
    """These ways, and all other features of a task in the first way that goes with the rest, and
    with the model that the task has by default."""
    on = list(first)
    for feature in fitting(catalog, task):
        if feature.name not in [way.feature for way in on]:
            on += [
                way
                for way in ways(catalog, feature)
                if str(way) not in BESIDE and not conflict(catalog, [*on, way], task)
            ][:1]
    return on


def pairs(catalog: Catalog, task: str = "image_classification") -> Iterator[tuple[Way, Way]]:
    """All pairs of two features of a task, in all ways."""
    every = [way for feature in possible(catalog, task) for way in ways(catalog, feature)]
    for one, two in itertools.combinations(every, 2):
        if one.feature != two.feature:
            yield one, two


def meetings(
    catalog: Catalog, task: str, met_before: Collection[frozenset[str]] = ()
) -> list[list[Way]]:
    """Projects in which every two features of a task that go together are both on, at most half of
    all at a time: what goes wrong only beside another feature shows, and what hides behind it.

    A covering array of strength 2, put together greedily: a pair that has not met yet, and then
    always the feature that meets the most others for the first time. Pairs that have met before
    need not meet again.
    """
    random = Random(task)
    features = {feature.name: ways(catalog, feature) for feature in possible(catalog, task)}
    missing: set[frozenset[str]] = set()
    for one, two in pairs(catalog, task):
        pair = frozenset({one.feature, two.feature})
        known = pair in missing or pair in met_before
        if not known and not conflict(catalog, [one, two], task):
            missing.add(pair)
    found = []
    while missing:
        names = min(map(sorted, missing))
        left = set(features) - set(names)
        on: list[Way] = []
        while names and len(on) < len(features) // 2:
            name = names.pop(0)
            turns = random.sample(features[name], len(features[name]))
            on += [way for way in turns if not conflict(catalog, [*on, way], task)][:1]
            if not names:
                news = {
                    other: sum(frozenset({other, way.feature}) in missing for way in on)
                    for other in left
                }
                best = min(news, key=lambda other: (-news[other], other), default="")
                names = [best] if news.get(best) else []
                left.discard(best)
        met = {frozenset(pair) for pair in itertools.combinations({w.feature for w in on}, 2)}
        assert missing & met, on
        missing -= met
        found.append(on)
    return found


# what these tests do not train: mixed precision with fp16 has no effect on the CPU, and processes
# can't exchange gradients in bf16 there, so both are refused; packages of trackers that bring very
# many others
UNTRAINED = (
    *("precision=fp16", "precision=fp8", "type=XLA", "sharding=fsdp", "sharding=deepspeed"),
    *("launcher=sagemaker", "backend=cudagraphs", "compression=bf16"),
    *("kind=mlflow", "kind=trackio", "kind=aim", "kind=dvclive"),
)


def bundles(catalog: Catalog, apart: int, each: int = 2) -> list[tuple[str, list[Way]]]:
    """A task and some of its features, so that each way of a feature is with `each` tasks.

    The tasks of a way are `apart` from those of the way before it, so that all have their turn.
    """
    found: list[tuple[str, list[Way]]] = []
    turn = 0
    for feature in catalog.features.values():
        tasks = [task for task in catalog.tasks if suits(catalog, feature.name, task)]
        for way in ways(catalog, feature):
            if str(way).endswith(UNTRAINED) or not tasks:  # it needs a choice of a task
                continue
            turned = tasks[turn % len(tasks) :] + tasks[: turn % len(tasks)]
            going = (task for task in turned if not conflict(catalog, [way], task))
            for task in itertools.islice(going, each):
                _add_to_bundle(catalog, found, task, way)
            turn += apart
    return found


def shared_bundles(apart: int, each: int) -> dict[str, tuple[str, list[Way]]]:
    """These by a label: worked out by one of the processes that collect tests."""
    found = made_once(f"bundles {apart} {each}", lambda: bundles(load_catalog(), apart, each))
    return {f"{task}: {', '.join(map(str, on))}": (task, on) for task, on in found}


def _add_to_bundle(
    catalog: Catalog, found: list[tuple[str, list[Way]]], task: str, way: Way, most: int = 14
) -> None:
    for other, on in found:
        names = [other.feature for other in on]
        room = other == task and len(on) < most and way.feature not in names
        if room and not conflict(catalog, [*on, way], task):
            on.append(way)
            return
    found.append((task, [way]))


def in_turns(cases: Iterable[Any], every: int) -> list[Any]:
    """Parameters of tests: each of these in the sweep, and the first of so many in every run."""
    return [
        pytest.param(case, marks=[pytest.mark.sweep] * (number % every > 0))
        for number, case in enumerate(cases)
    ]


def often(cases: Iterable[Any], chosen: Collection[Any]) -> list[Any]:
    """Parameters of tests: each of these in the sweep, and the chosen ones in every run."""
    return [pytest.param(case, marks=[pytest.mark.sweep] * (case not in chosen)) for case in cases]


MINIMAL: Answers = {"project.loop": "minimal"}


def combinations(catalog: Catalog) -> dict[str, Answers]:
    """Answers by a label.

    For each task: no feature, the default, all of them, and each feature alone; each of its own
    choices alone, among all features, and beside the minimal loop; and projects in which every two
    features meet that did not meet with a task before. For the first task, each way of a feature
    alone and among all others: else those that chance left out.
    """
    found: dict[str, Answers] = {}
    met: set[frozenset[str]] = set()
    for task, component in catalog.tasks.items():
        found[f"{task}, none"] = given_for(catalog, [], project__task=task)
        found[f"{task}, default"] = {"project.name": "example", "project.task": task}
        everything = as_many_as_possible(catalog, task=task)
        found[f"{task}, all"] = given_for(catalog, everything, project__task=task)
        for feature in possible(catalog, task):
            every = ways(catalog, feature)
            for way in every if task == FIRST_TASK else every[:1]:
                found[f"{task}, {way}"] = given_for(catalog, [way], project__task=task)
                if task == FIRST_TASK:
                    on = as_many_as_possible(catalog, [way])
                    found[f"all with {way}"] = given_for(catalog, on)
        for number, on in enumerate(meetings(catalog, task, met)):
            found[f"{task}, meeting {number}"] = given_for(catalog, on, project__task=task)
            names = sorted(way.feature for way in on)
            met |= {frozenset(pair) for pair in itertools.combinations(names, 2)}
        minimal = "one_optimizer" in component.has
        for label, given in each_choice(catalog, component).items():
            found[label] = given
            found[f"{label}, all"] = found[f"{task}, all"] | given
            if minimal:
                found[f"{label}, minimal"] = given_for(catalog, []) | given | MINIMAL
        if minimal:
            found[f"{task}, minimal"] = given_for(catalog, [], project__task=task) | MINIMAL
    for feature in catalog.features.values():  # what chance has left out
        task = next(
            task for task in (FIRST_TASK, *catalog.tasks) if feature in possible(catalog, task)
        )
        for way in ways(catalog, feature):
            if sum(dict(way.given).items() <= given.items() for given in found.values()) < 2:
                found[f"{task}, {way}"] = given_for(catalog, [way], project__task=task)
                on = as_many_as_possible(catalog, [way], task)
                found[f"{task}, all with {way}"] = given_for(catalog, on, project__task=task)
    for key, value in own_choices(catalog.base):
        more = {"project.task": "language_model"} if value == "muon" else {}  # it needs layers
        found[f"{key}={value}"] = given_for(catalog, []) | {key: value, **more}
    parts = [feature for feature in catalog.features.values() if "hardware" in feature.folder.parts]
    found |= each_choice(catalog, catalog.hardware, *parts)
    unique: dict[tuple[tuple[str, Value], ...], str] = {}
    for label, given in list(found.items()):
        try:
            answers = resolve(catalog, given)
        except AnswerError:  # a choice that does not go with every feature
            assert label.endswith(", all") or label in FOR_OTHERS, label
            del found[label]
        else:
            unique.setdefault(tuple(answers.items()), label)
    return {label: found[label] for label in unique.values()}


def few_combinations(catalog: Catalog) -> dict[str, Answers]:
    """Answers by a label: for each task the default and the minimal loop, for half of them all
    features; and each choice and each way of a feature in one of these projects, or alone."""
    found: dict[str, Answers] = {f"{FIRST_TASK}, none": given_for(catalog, [])}
    with_all = {FIRST_TASK, *[*catalog.tasks][::2]}
    for task, component in catalog.tasks.items():
        found[f"{task}, default"] = {"project.name": "example", "project.task": task}
        if task in with_all:
            on = as_many_as_possible(catalog, task=task)
            found[f"{task}, all"] = given_for(catalog, on, project__task=task)
        if "one_optimizer" in component.has:
            found[f"{task}, minimal"] = given_for(catalog, [], project__task=task) | MINIMAL
    resolved = {label: resolve(catalog, given) for label, given in found.items()}
    # keys of answers that a project was picked for, or that it is the example of
    kept = {label: set() if label.endswith(", all") else set(catalog.settings) for label in found}
    every = [
        way
        for feature in catalog.features.values()
        if feature.switch != DEVICES
        for way in ways(catalog, feature)
    ]
    features = {
        task: {feature.name for feature in possible(catalog, task)} for task in catalog.tasks
    }
    wanted: list[tuple[Answers, Answers]] = []  # what to find, and the answers that have it alone
    for way in every:
        suitable = [task for task, names in features.items() if way.feature in names]
        task = FIRST_TASK if FIRST_TASK in suitable else suitable[0]
        wanted.append((dict(way.given), given_for(catalog, [way], project__task=task)))
    for key, value in own_choices(*catalog.components):
        alone = {"project.name": "example", **needed_for(catalog, key), key: value}
        wanted.append(({key: value}, alone))
    for given, alone in wanted:
        there = [label for label in found if given.items() <= resolved[label].items()]
        if there:
            kept[there[0]] |= given.keys()
            continue
        task = catalog.settings[next(iter(given))].task
        for label, beside in found.items():
            other_task = task and task != resolved[label]["project.task"]
            both = beside | given
            if not other_task and not given.keys() & kept[label] and is_kept(catalog, both):
                break
        else:
            label, both = ", ".join(f"{key}={value}" for key, value in given.items()), alone
            try:
                resolve(catalog, both)
            except AnswerError:  # beside other answers than the usual ones
                assert label in FOR_OTHERS, label
                continue
        found[label], resolved[label] = both, resolve(catalog, both)
        kept[label] = kept.get(label, set()) | given.keys()
    return found


FIRST_TASK = "image_classification"
# choices that the usual answers beside them refuse
FOR_OTHERS = (
    "self_supervised, augmentation.enabled=True+augmentation.kind=shift",
    "self_supervised, cross_validation.enabled=True",
    "fsdp.auto_wrap_policy=SIZE_BASED_WRAP",
    "fsdp.auto_wrap_policy=NO_WRAP",
)


def own_choices(*components: Component) -> Iterator[tuple[str, str]]:
    """The choices that are no feature: of data, model, optimizer, hardware."""
    for component in components:
        for option in component.options:
            if option.name != "task":
                yield from ((option.key, choice.value) for choice in option.choices)


def each_choice(catalog: Catalog, *components: Component) -> dict[str, Answers]:
    """Projects with one of these components' choices each, by a label."""
    return {
        f"{key}={value}": {**needed_for(catalog, key), "project.name": "example", key: value}
        for key, value in own_choices(*components)
    }


def is_kept(catalog: Catalog, given: Answers) -> bool:
    """Whether all of these answers can stand beside each other."""
    try:
        return given.items() <= resolve(catalog, given).items()
    except AnswerError:
        return False


def required_by(catalog: Catalog, feature: Component) -> list[str]:
    """The features that a feature needs, and those that they need in turn."""
    found = list(feature.requires)
    for name in feature.requires:
        found += required_by(catalog, catalog.features[name])
    return found


def needed_for(catalog: Catalog, key: str) -> Answers:
    """Other answers, beside which a setting exists."""
    option = catalog.settings[key]
    needed: Answers = {}
    if option.feature and (feature := catalog.features[option.feature]).switch_key != key:
        needed |= {**needed_for(catalog, feature.switch_key), feature.switch_key: feature.example}
        for name in required_by(catalog, feature):
            other = catalog.features[name]
            needed |= {**needed_for(catalog, other.switch_key), other.switch_key: other.example}
    if option.task:
        needed["project.task"] = option.task
    for other, condition in option.when.items():
        value = condition.values[0] if condition.values else int(condition.above or 0) + 1
        if value != catalog.settings[other].default:
            needed |= {**needed_for(catalog, other), other: value}
            on = [part.name for part in catalog.features.values() if part.switch == other]
            tasks = [
                task for task in catalog.tasks if all(suits(catalog, name, task) for name in on)
            ]
            if FIRST_TASK not in tasks:
                needed["project.task"] = tasks[0]
    return needed
