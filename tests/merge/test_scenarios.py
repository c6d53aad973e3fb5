"""Updates keep what people edit: scenarios on the real templates, scored as a person would.

"right" is the result that a person would write, or a conflict where one has to decide; "conflict"
asks although there was nothing to decide; "wrong" is anything else, and it is silent.
"""

import contextlib
import io
import re
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest
from pyflakes.checker import Checker

from scaffold import __version__
from scaffold.answers.catalog import Value, as_typed
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.cli import main
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from support.combinations import in_turns
from support.files import read_files, write_files
from support.rendering import render
from support.rivals import TOOLS, Rival, find_tool
from support.scenarios import (
    MARKER,
    SCENARIOS,
    Conflict,
    Files,
    Outcome,
    Scenario,
    canonical,
    judge,
    own_file,
)

VERDICTS = ("right", "conflict", "wrong")
Scores = dict[str, tuple[str, str]]  # by the name of the scenario: the verdict, and why


def rendered(scenario: Scenario) -> list[Files]:
    return [dict(render(given)) for given in scenario.renders()]


def edited(scenario: Scenario, files: Files) -> Files:
    changed = dict(files)
    scenario.edit(changed)
    assert changed != files, "this is no edit"
    return changed


def update(folder: Path, changed: Mapping[str, Value]) -> tuple[int, str]:
    """`scaffold update` in this process: its exit status, and all that it prints."""
    arguments = [f"--set={key}={as_typed(value)}" for key, value in changed.items()]
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["scaffold", "update", str(folder), *arguments]),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            main()
            code: object = 0
        except SystemExit as stop:
            code = stop.code or 0
    assert isinstance(code, int)
    return code, printed.getvalue()


def run_scaffold(scenario: Scenario, folder: Path) -> tuple[Outcome, str]:
    """A project as `scaffold new` writes it, edited, then updated."""
    renders = rendered(scenario)
    answers = resolve(load_catalog(), {"project.name": "example", **scenario.before})
    write_files(folder, {PRISTINE: write_pristine(Pristine(__version__, answers, renders[0]))})
    for path, text in edited(scenario, renders[0]).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    failed, said = False, ""
    for changed in scenario.updates:
        code, printed = update(folder, changed)
        assert code in (0, 1), printed
        failed |= code == 1
        said += printed
    files = {path: data for path, data in read_files(folder).items() if not own_file(path)}
    return Outcome(files, failed), said


def faults(path: str, text: str) -> set[str]:
    """What pyflakes says of a file, without the lines."""
    return {
        f"{type(message).__name__} {message.message_args}"
        for message in Checker(compile(text, path, "exec", flags=0x400)).messages
    }


def lines(files: Mapping[str, str]) -> Counter[str]:
    return Counter(line.strip() for text in files.values() for line in text.splitlines())


@pytest.mark.parametrize("scenario", in_turns(SCENARIOS, 6), ids=str)
def test_scenario(scenario: Scenario, tmp_path: Path) -> None:
    renders = rendered(scenario)
    mine = edited(scenario, renders[0])
    outcome, said = run_scaffold(scenario, tmp_path / "project")
    verdict, why = judge(scenario, renders, outcome)
    assert verdict == "right", f"{why}\n{said}"

    texts = {path: data.decode() for path, data in outcome.files.items()}
    assert outcome.failed == any(map(MARKER.search, outcome.files.values())), said
    if outcome.failed:
        for text in texts.values():
            markers = re.findall("^(<{7} |\\|{7} |={7}$|>{7} )", text, flags=re.MULTILINE)
            assert [marker.strip()[0] for marker in markers] == [*"<|=>"] * (len(markers) // 4)
        assert not lines(mine) - lines(renders[0]) - lines(texts), "an edit is lost"
        return
    now = {path: faults(path, text) for path, text in texts.items() if path.endswith(".py")}
    known = {
        fault
        for files in (mine, renders[-1])
        for path, text in files.items()
        if path.endswith(".py")
        for fault in faults(path, text)
    }
    assert not {fault for found in now.values() for fault in found} - known
    for path, text in texts.items():
        if path in mine and "\r\n" in mine[path]:
            assert text.count("\n") == text.count("\r\n"), f"{path} has two kinds of newlines"


def test_each_scenario_is_an_update() -> None:
    for scenario in SCENARIOS:
        renders = rendered(scenario)
        for one, other in pairwise(renders):
            assert one != other, f"{scenario}: this is no update"


def ideal(scenario: Scenario, files: Files, number: int = 0) -> dict[str, bytes]:
    assert not isinstance(scenario.expected, Conflict)
    result = dict(files)
    scenario.expected[number](result)
    return {path: text.encode() for path, text in result.items()}


@pytest.mark.sweep
def test_judge_knows_right_from_wrong() -> None:
    """Each scenario tells its right result from no update, and from one that overwrites."""
    for scenario in SCENARIOS:
        renders = rendered(scenario)
        kept = {path: text.encode() for path, text in edited(scenario, renders[0]).items()}
        overwritten = {path: text.encode() for path, text in renders[-1].items()}
        marked = {**kept, "train.py": b"<<<<<<< yours\n=======\n>>>>>>> other\n"}
        clashes = isinstance(scenario.expected, Conflict)
        if not isinstance(scenario.expected, Conflict):
            for number in range(len(scenario.expected)):
                result = Outcome(ideal(scenario, renders[-1], number))
                assert judge(scenario, renders, result) == ("right", ""), scenario
            assert judge(scenario, renders, Outcome(marked))[0] == "conflict"
        there_and_back = renders[0] == renders[-1]
        unmoved = judge(scenario, renders, Outcome(kept))[0]
        assert unmoved == ("right" if there_and_back else "wrong"), scenario
        # what its owner took out or wrote in advance may leave no trace
        if clashes or ideal(scenario, renders[-1]) != overwritten:
            assert judge(scenario, renders, Outcome(overwritten))[0] == "wrong", scenario


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("f(a, b)\n", "f(\n    a,\n    b,\n)\n", True),
        ("x = 'a'\n", 'x = "a"\r\n', True),
        ("import b\nimport a\n", "import a\nimport b\n", True),
        ("from a import b, c\n", "from a import (\n    c,\n    b,\n)\n", True),
        ("if a:\n  b()\n", "if a:\n\n    b()\n", True),
        ("x = 1\n", "x = 2\n", False),
        ("x = 1  # a\n", "x = 1\n", False),
        ("x = (1,)\n", "x = (1)\n", False),
        ("if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n", False),
        ("a()\nb()\n", "b()\na()\n", False),
        ("import a\n", "import a as b\n", False),
        ("f(a=1, b=2)\n", "f(b=2, a=1)\n", False),
    ],
)
def test_canonical_form(one: str, other: str, same: bool) -> None:
    assert (canonical("a.py", one) == canonical("a.py", other)) == same


def count(scores: Scores) -> Counter[str]:
    return Counter(verdict for verdict, _ in scores.values())


def table(scores: Mapping[str, Scores]) -> str:
    """A row for each tool, as it is in the README."""
    rows = ["| | right | conflict | silently wrong |", "| --- | --- | --- | --- |"]
    for tool, scored in scores.items():
        counts = count(scored)
        rows.append(f"| {tool} | {' | '.join(str(counts[verdict]) for verdict in VERDICTS)} |")
    return "\n".join(rows)


def by_group(scores: Mapping[str, Scores]) -> str:
    """Right results of all, by kind of edit."""
    groups = Counter(scenario.group for scenario in SCENARIOS)
    rows = []
    for group, number in groups.items():
        right = [
            sum(
                scored[scenario.name][0] == "right"
                for scenario in SCENARIOS
                if scenario.group == group
            )
            for scored in scores.values()
        ]
        rows.append(f"{group:<14} {number:>3}  " + " ".join(f"{value:>9}" for value in right))
    return "\n".join([f"{'':<18}  " + " ".join(f"{tool:>9}" for tool in scores), *rows])


@pytest.mark.sweep
def test_beside_copier_and_cruft(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same edits and updates with copier and cruft, run for real, and judged alike."""
    missing = [tool for tool in TOOLS if find_tool(tool) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: pip install '.[rivals]'")
    scores: dict[str, Scores] = {"scaffold update": {}}
    for number, scenario in enumerate(SCENARIOS):
        outcome, _ = run_scaffold(scenario, tmp_path / "scaffold" / str(number))
        verdict = judge(scenario, rendered(scenario), outcome)
        scores["scaffold update"][scenario.name] = verdict
    for tool in TOOLS:
        rival = Rival(tool, tmp_path / tool)
        scored = scores.setdefault(f"{tool} update", {})
        for number, scenario in enumerate(SCENARIOS):
            renders = rendered(scenario)
            mine = edited(scenario, renders[0])
            outcome = rival.update(renders, mine, tmp_path / f"{tool}_projects" / str(number))
            scored[scenario.name] = judge(scenario, renders, outcome)
    with capsys.disabled():
        print(f"\n{table(scores)}\n\n{by_group(scores)}\n")
        for tool, scored in scores.items():
            for name, (verdict, why) in scored.items():
                if verdict == "wrong":
                    print(f"{tool} is wrong: {name}: {why}")
    ours, *others = (count(scored) for scored in scores.values())
    assert ours["wrong"] == 0
    assert all(ours["right"] > other["right"] for other in others)
