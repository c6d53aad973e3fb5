"""Fixtures of several folders of tests, and what a run of pytest does before and after them."""

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

pytest.register_assert_rewrite("support")  # before any of it is imported

import changed  # noqa: E402
from scaffold.answers.catalog import Catalog  # noqa: E402
from scaffold.answers.manifests import load_catalog  # noqa: E402
from support import warm  # noqa: E402
from support.command_line import Cli, command_line  # noqa: E402
from support.paths import TEMPLATES  # noqa: E402
from support.shared import open_folder  # noqa: E402
from support.training import begin_server  # noqa: E402


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process."""
    return command_line(monkeypatch, capfd)


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


_COLLECTED: set[str] = set()  # before some are chosen by their marks


@pytest.fixture
def collected() -> set[str]:
    """The names of all tests in the files of this run, with their parameters, from tests/ on."""
    return _COLLECTED


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


# Files of many small tests that look at one thing from many sides: every run has a test of them if
# the checksum of its name can be divided by this number; the sweep has the others. Those that are
# marked `every_run` take no turns.
IN_TURNS = {
    "test_accelerate_config.py": 20,
    "test_advice.py": 2,
    "test_ask.py": 8,
    "test_catalog.py": 2,
    "test_check.py": 4,
    "test_cli.py": 6,
    "test_data_files.py": 4,
    "test_detection.py": 4,
    "test_doctor.py": 3,
    "test_embeddings.py": 2,
    "test_evaluate_script.py": 3,
    "test_evaluation.py": 2,
    "test_export.py": 4,
    "test_fuzz.py": 4,
    "test_images.py": 2,
    "test_journal.py": 3,
    "test_kinds.py": 2,
    "test_layouts.py": 2,
    "test_library.py": 2,
    "test_lora.py": 2,
    "test_masks.py": 2,
    "test_new.py": 3,
    "test_old_projects.py": 4,
    "test_own_files.py": 4,
    "test_predict.py": 4,
    "test_resume.py": 6,
    "test_search.py": 16,
    "test_segmentation.py": 2,
    "test_settings.py": 6,
    "test_sharding.py": 2,
    "test_share.py": 2,
    "test_small_data.py": 3,
    "test_sources.py": 2,
    "test_templates.py": 4,
    "test_text_and_tables.py": 4,
    "test_training.py": 4,
    "test_traps.py": 4,
    "test_update.py": 4,
    "test_update_tasks.py": 10,
    "test_values.py": 10,
    "test_web.py": 2,
}


# Of those that train, these need no warm process: they come first, while its server starts.
COLD = ("test_accelerate_config.py", "test_data_files.py", "test_launch.py")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        # by name, so that a test that is added moves no other one to the sweep
        turn = crc32(item.name.encode()) % IN_TURNS.get(item.path.name, 1)
        if turn and not item.get_closest_marker("every_run"):
            item.add_marker(pytest.mark.sweep)
    _COLLECTED.update(item.nodeid.removeprefix("tests/") for item in items)
    items.sort(key=_place)
    files = changed.changed_files(config)
    if files is not None:
        kept = list(changed.select(items, files, config.cache.get(changed.NOTES, {})))
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def _place(item: pytest.Item) -> int:
    """Those that need seconds come before those that train."""
    trains = item.get_closest_marker("train") is not None
    return trains + (trains and item.path.name not in COLD)


# what takes seconds to import, and is there when the tests are collected: test_house.py looks
imported_early: set[str] = set()


def pytest_collection_finish(session: pytest.Session) -> None:
    imported_early.update({"torch", "transformers", "pandas"} & sys.modules.keys())
    if not session.config.option.collectonly and any(map(_place, session.items)):
        begin_server()


changed.watch()
pytest_fixture_setup = changed.pytest_fixture_setup


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if folder and item.get_closest_marker("train"):
        changed.note_projects(folder)


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
