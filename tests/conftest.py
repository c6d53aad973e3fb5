"""Helpers of several test files: combinations of features, and projects rendered from them."""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from unittest import mock

import black
import pytest

from scaffold.answers import Answers, resolve, schema, switch_key
from scaffold.catalog import Catalog, Component, Value, load_catalog
from scaffold.cli import main
from scaffold.errors import AnswerError
from scaffold.render import render_project

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
        option = schema(catalog)[feature.switch]
        values = [choice.value for choice in option.choices if choice.value != feature.off]
        return [
            Way(feature.name, ((feature.switch, value),)) for value in values or [feature.example]
        ]
    key = switch_key(feature)
    if not feature.choice:
        return [Way(feature.name, ((key, True),))]
    option = feature.option(feature.choice)
    return [
        Way(feature.name, ((key, True), (option.key, choice.value))) for choice in option.choices
    ]


def given_for(catalog: Catalog, on: Sequence[Way], **extra: Value) -> Answers:
    """Answers to give so that these features are on, those they require too, and no others."""
    given: Answers = {"project.name": "example"}
    given |= {switch_key(feature): feature.off for feature in catalog.features.values()}
    pending = [way.feature for way in on]
    while pending:
        feature = catalog.features[pending.pop()]
        given[switch_key(feature)] = feature.example
        pending += feature.requires
    for way in on:
        given |= dict(way.given)
    return given | {key.replace("__", "."): value for key, value in extra.items()}


def conflict(catalog: Catalog, on: Sequence[Way]) -> bool:
    try:
        resolve(catalog, given_for(catalog, on))
    except AnswerError:
        return True
    return False


def as_many_as_possible(catalog: Catalog, first: Sequence[Way] = ()) -> list[Way]:
    """These ways, and all other features in the first way that goes with the rest."""
    on = list(first)
    for feature in catalog.features.values():
        if feature.name not in [way.feature for way in on]:
            on += [way for way in ways(catalog, feature) if not conflict(catalog, [*on, way])][:1]
    return on


def pairs(catalog: Catalog) -> Iterator[tuple[Way, Way]]:
    """All pairs of two features, in all ways."""
    every = [way for feature in catalog.features.values() for way in ways(catalog, feature)]
    for one, two in itertools.combinations(every, 2):
        if one.feature != two.feature:
            yield one, two


def combinations(catalog: Catalog) -> dict[str, Answers]:
    """Answers by a label: every feature alone in each way, every pair of features, none, all.

    Of a pair one way is taken, another with each partner, so that every choice meets several
    features. Pairs that can't be combined in any way are left out.
    """
    features = list(catalog.features.values())
    places = {feature.name: number for number, feature in enumerate(features)}

    def take_turn(possible: Sequence[Way], partner: Component) -> Way:
        return possible[places[partner.name] % len(possible)]

    found = {"none": given_for(catalog, []), "default": {"project.name": "example"}}
    for feature in features:
        for way in ways(catalog, feature):
            found[str(way)] = given_for(catalog, [way])
            found[f"all with {way}"] = given_for(catalog, as_many_as_possible(catalog, [way]))
    for one, two in itertools.combinations(features, 2):
        possible = [
            pair
            for pair in itertools.product(ways(catalog, one), ways(catalog, two))
            if not conflict(catalog, pair)
        ]
        if possible:
            pair = take_turn(ways(catalog, one), two), take_turn(ways(catalog, two), one)
            pair = pair if pair in possible else possible[0]
            found[f"{pair[0]}, {pair[1]}"] = given_for(catalog, pair)
    everything = as_many_as_possible(catalog)
    for task in catalog.tasks:  # the default one's are the same as above, and go again
        found[f"{task}, none"] = given_for(catalog, [], project__task=task)
        found[f"{task}, all"] = given_for(catalog, everything, project__task=task)
    for option in schema(catalog).values():
        if option.key == "hardware.distributed_type":
            for choice in option.choices:
                found[f"{option.key}={choice.value}"] = {
                    "project.name": "example",
                    option.key: choice.value,
                }
    unique: dict[tuple[tuple[str, Value], ...], str] = {}
    for label, given in found.items():
        unique.setdefault(tuple(resolve(catalog, given).items()), label)
    return {label: found[label] for label in unique.values()}


_rendered: dict[tuple[tuple[str, Value], ...], dict[str, str]] = {}


def render(given: Mapping[str, Value]) -> Mapping[str, str]:
    """The files of a project, rendered once for each set of answers."""
    answers = resolve(load_catalog(), {"project.name": "example", **given})
    key = tuple(answers.items())
    if key not in _rendered:
        _rendered[key] = render_project(load_catalog(), answers)
    return MappingProxyType(_rendered[key])


def render_all(projects: Mapping[str, Mapping[str, Value]]) -> dict[str, Mapping[str, str]]:
    """Many projects by their label, on all cores."""
    with ProcessPoolExecutor() as pool:
        rendered = list(pool.map(_render_one, projects.items(), chunksize=8))
    return {label: MappingProxyType(files) for label, files in rendered}


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
        sys.stdout.flush()
        captured = capture.readouterr()
        assert isinstance(code, int)
        return Result(code, captured.out, captured.err)

    return run


def replace_in(path: Path, old: str, new: str) -> None:
    """Replace the one place in a file where a text stands."""
    text = path.read_text()
    assert text.count(old) == 1, text.count(old)
    path.write_text(text.replace(old, new))


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


@pytest.fixture(scope="session", autouse=True)
def _format_once() -> Iterator[None]:
    """Rendering spends most of its time in black, and most files recur in many projects."""
    original = black.format_str
    texts: dict[tuple[str, str], str] = {}

    def format_str(text: str, *, mode: black.Mode) -> str:
        key = (text, mode.get_cache_key())
        if key not in texts:
            texts[key] = original(text, mode=mode)
        return texts[key]

    with mock.patch.object(black, "format_str", format_str):
        yield


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
_PROVEN: dict[str, int] = {}


@pytest.fixture
def proven() -> Callable[[str, int], None]:
    """Counts what was shown: `proven("resume points", 12)`."""

    def count(what: str, number: int) -> None:
        _PROVEN[what] = _PROVEN.get(what, 0) + number

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _PROVEN:
        terminalreporter.section("proven")
        for what, number in sorted(_PROVEN.items()):
            terminalreporter.write_line(f"{number:>6}  {what}")
