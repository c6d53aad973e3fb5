"""Helpers of several test files: combinations of features, and projects rendered from them."""

import gc
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

import changed
import pytest
import warm
from shared import made_once, open_folder

from scaffold.answers.catalog import Catalog, Component, Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import Answers, answers_for, can_fit, resolve, rules_out
from scaffold.cache import remember
from scaffold.cli import main
from scaffold.errors import AnswerError
from scaffold.render import format as finish
from scaffold.render.project import render_project

REPOSITORY = Path(__file__).parent.parent
TEMPLATES = REPOSITORY / "templates"


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
        return [
            Way(feature.name, ((feature.switch, value),)) for value in values or [feature.example]
        ]
    key = feature.switch_key
    if not feature.choice:
        return [Way(feature.name, ((key, True),))]
    option = feature.option(feature.choice)
    return [
        Way(feature.name, ((key, True), (option.key, choice.value))) for choice in option.choices
    ]


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
    given, there = {"project.task": task}, fitting(catalog, task)
    return [
        feature
        for feature in catalog.features.values()
        if feature in there
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
    """These ways, and all other features of a task in the first way that goes with the rest."""
    on = list(first)
    for feature in fitting(catalog, task):
        if feature.name not in [way.feature for way in on]:
            on += [
                way for way in ways(catalog, feature) if not conflict(catalog, [*on, way], task)
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
    "precision=fp16",
    "precision=fp8",
    "type=XLA",
    "sharding=fsdp",
    "sharding=deepspeed",
    "launcher=sagemaker",
    "backend=cudagraphs",
    "compression=bf16",
    "kind=mlflow",
    "kind=trackio",
    "kind=aim",
    "kind=dvclive",
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


MINIMAL: Answers = {"project.loop": "minimal"}


def combinations(catalog: Catalog, whole: bool = False) -> dict[str, Answers]:
    """Answers by a label.

    For each task: no feature, the default, every third feature alone, if it was not with a task
    before (with `whole`: each feature alone), all of them, each of its own choices (with `whole`
    each alone, and among all features), and projects in which every two features meet that did
    not meet with a task before.
    For the first task, each way of a feature alone and among all others: with `whole` all of them,
    else those that chance left out.
    """
    found: dict[str, Answers] = {}
    met: set[frozenset[str]] = set()
    alone: set[str] = set()
    for task, component in catalog.tasks.items():
        found[f"{task}, none"] = given_for(catalog, [], project__task=task)
        found[f"{task}, default"] = {"project.name": "example", "project.task": task}
        everything = as_many_as_possible(catalog, task=task)
        found[f"{task}, all"] = given_for(catalog, everything, project__task=task)
        for feature in possible(catalog, task):
            known = feature.name in alone
            alone.add(feature.name)
            if not whole and (known or len(alone) % 3):
                continue
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
        for label, given in with_choices(catalog, own_choices(component), whole).items():
            found[label] = given
            if whole:
                found[f"{label}, all"] = found[f"{task}, all"] | given
            if "one_optimizer" in component.has:
                found[f"{label}, minimal"] = given_for(catalog, []) | given | MINIMAL
        if "one_optimizer" in component.has:
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
    found |= with_choices(catalog, own_choices(catalog.hardware, *parts), whole)
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


def with_choices(
    catalog: Catalog, choices: Iterable[tuple[str, str]], whole: bool
) -> dict[str, Answers]:
    """Projects with these choices by a label: as many beside each other as go together, or (with
    `whole`) each alone."""
    found: dict[str, Answers] = {}
    for key, value in choices:
        alone = {**needed_for(catalog, key), "project.name": "example", key: value}
        for label, given in [] if whole else found.items():
            both = given | alone
            if key not in given and both == alone | given and is_kept(catalog, both):
                del found[label]
                found[f"{label}, {key}={value}"] = both
                break
        else:
            found[f"{key}={value}"] = alone
    return found


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


def render(given: Mapping[str, Value]) -> Mapping[str, str]:
    """The files of a project, rendered once for each set of answers."""
    answers = resolve(load_catalog(), {"project.name": "example", **given})
    key = tuple(answers.items())
    changed.rendered.add(key)
    return MappingProxyType(_render(key))


def render_with_best(given: Mapping[str, Value]) -> Mapping[str, str]:
    """As `render`, with the best model: more lines of train.py that can be edited."""
    return render({"features.best_model.enabled": True, **given})


@cache
def _render(answers: tuple[tuple[str, Value], ...]) -> dict[str, str]:
    def make() -> dict[str, str]:
        return render_project(load_catalog(), dict(answers), remember)

    # of the sweep that leaves out black, nothing may be kept for others
    return made_once(f"render {finish.black_version()} {answers}", make)


def render_all(
    projects: Mapping[str, Mapping[str, Value]], formatted: bool = True
) -> dict[str, Mapping[str, str]]:
    """Many projects by their label, on all cores. Formatting would take most of the time."""
    with ProcessPoolExecutor(initializer=None if formatted else _leave_out_black) as pool:
        rendered = list(pool.map(_render_one, projects.items(), chunksize=8))
    return {label: MappingProxyType(files) for label, files in rendered}


def _leave_out_black() -> None:
    finish._format = lambda text: text
    finish.black_version = lambda: "none"


def _render_one(labelled: tuple[str, Mapping[str, Value]]) -> tuple[str, dict[str, str]]:
    label, given = labelled
    try:
        return label, dict(render(given))
    except Exception as error:  # as text, because not every exception goes from process to process
        raise RuntimeError(f"{label}: {type(error).__name__}: {error}") from None


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return folder


def read_files(folder: Path) -> dict[str, bytes]:
    """The content of all files below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def listing(folder: Path) -> list[str]:
    """All paths below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@dataclass(frozen=True)
class Result:
    """What the command line said and ended with."""

    code: int
    out: str
    err: str


Cli = Callable[..., Result]


def command_line(monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process. Patches are written below `sys.stdout`: take `capfd`."""

    def run(*arguments: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["scaffold", *map(str, arguments)])
        capture.readouterr()
        try:
            main()
            code: object = 0
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            gc.enable()  # which a command turns off, because it is over so soon
        sys.stdout.flush()
        captured = capture.readouterr()
        assert isinstance(code, int)
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process."""
    return command_line(monkeypatch, capfd)


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A table with its inner ones, each row under its whole key."""
    rows: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{prefix}{name}"
        rows |= flatten(value, f"{key}.") if isinstance(value, dict) else {key: value}
    return rows


def replace_in(path: Path, old: str, new: str) -> None:
    """Replace the one place in a file where a text stands."""
    text = path.read_text()
    assert text.count(old) == 1, text.count(old)
    path.write_text(text.replace(old, new))


def add_answers(path: Path, rows: str) -> None:
    """Add rows, with the headers of their tables, to a scaffold.toml that has none of these."""
    path.write_text(f"{path.read_text()}\n{rows}")


def run_cli(
    *arguments: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, without a terminal."""
    return subprocess.run(
        [*before, sys.executable, "-m", "scaffold", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


@pytest.fixture
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A copy of the templates, to make faults in."""
    copy = tmp_path / "templates"
    shutil.copytree(TEMPLATES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


# what the tests of rendered projects have shown, and for how many cases: a table at the end
_PROVEN: Counter[str] = Counter()
_NOTED: dict[str, list[Any]] = {}  # of tests that passed: the answers of their projects


@pytest.fixture
def proven() -> Callable[[str, int], None]:
    """Counts what was shown: `proven("resume points", 12)`."""

    def count(what: str, number: int) -> None:
        _PROVEN[what] += number

    return count


def pytest_addoption(parser: pytest.Parser) -> None:
    changed.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests folders of their own, which all workers of pytest-xdist share."""
    if hasattr(config, "workerinput"):
        return
    cache_folder, warm_folder = (
        tempfile.TemporaryDirectory(prefix=f"scaffold-{name}-") for name in ("cache", "warm")
    )
    config.add_cleanup(cache_folder.cleanup)
    config.add_cleanup(warm_folder.cleanup)
    os.environ["SCAFFOLD_CACHE_DIR"] = cache_folder.name
    warm.prepare(warm_folder.name)
    open_folder(config.cache.mkdir("shared"))


# Files of many small tests that look at one thing from many sides: every run has every second test
# of them, or every third; the sweep has the others, too.
IN_TURNS = {
    "test_ask.py": 2,
    "test_check.py": 2,
    "test_cli.py": 3,
    "test_doctor.py": 3,
    "test_evaluate_script.py": 2,
    "test_fuzz.py": 2,
    "test_journal.py": 3,
    "test_layouts.py": 2,
    "test_merge_edits.py": 2,
    "test_merge_moves.py": 3,
    "test_merge_ways.py": 2,
    "test_old_projects.py": 2,
    "test_own_files.py": 2,
    "test_predict.py": 2,
    "test_resume.py": 2,
    "test_scenarios.py": 2,
    "test_search.py": 2,
    "test_settings.py": 3,
    "test_sharding.py": 2,
    "test_templates.py": 2,
    "test_text_and_tables.py": 2,
    "test_training.py": 2,
    "test_update.py": 2,
    "test_update_tasks.py": 3,
    "test_values.py": 3,
}


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seen: Counter[str] = Counter()
    for item in items:
        name = item.path.name
        if name in IN_TURNS and item.get_closest_marker("sweep") is None:
            if seen[name] % IN_TURNS[name]:
                item.add_marker(pytest.mark.sweep)
            seen[name] += 1
    files = changed.changed_files(config)
    if files is not None:
        kept = list(changed.select(items, files, config.cache.get(changed.NOTES, {})))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


pytest_fixture_setup = changed.pytest_fixture_setup


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    changed.rendered.clear()
    result = yield
    _NOTED[item.nodeid] = changed.rendered_for(item)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if hasattr(config, "workeroutput"):  # with pytest-xdist: of one of its workers
        config.workeroutput["proven"] = dict(_PROVEN)
        config.workeroutput["noted"] = _NOTED
        return
    noted = {**config.cache.get(changed.NOTES, {}), **_NOTED}
    for report in _reports(config, "failed"):
        noted.pop(report.nodeid, None)
    config.cache.set(changed.NOTES, noted)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add what a worker of pytest-xdist has shown."""
    output = getattr(node, "workeroutput", {})
    _PROVEN.update(output.get("proven", {}))
    _NOTED.update(output.get("noted", {}))


def _reports(config: pytest.Config, *kinds: str) -> list[Any]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter else {}
    return [
        report
        for kind in kinds or stats
        for report in stats.get(kind, [])
        if hasattr(report, "nodeid") and hasattr(report, "duration")
    ]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """What was proven, for how many cases; and how long each file of tests took."""
    if _PROVEN:
        terminalreporter.section("proven")
        for what, number in sorted(_PROVEN.items()):
            terminalreporter.write_line(f"{number:>6}  {what}")
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for report in _reports(config):
        name = report.nodeid.partition("::")[0]
        seconds[name] += report.duration
        tests[name] += report.when == "call"
    if len(seconds) > 1:
        terminalreporter.section("seconds, and tests")
        for name, spent in seconds.most_common():
            terminalreporter.write_line(f"{spent:>8.1f} {tests[name]:>6}  {name}")
        terminalreporter.write_line(f"{seconds.total():>8.1f} {tests.total():>6}  on all workers")
