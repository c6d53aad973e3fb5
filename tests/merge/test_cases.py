"""Updates keep what people edit: the cases of `support/merges/` on the real templates.

"right" is the result that a person would write, or a conflict where one has to decide; "conflict"
asks although there was nothing to decide; "wrong" is anything else, and it is silent.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from corpus.edit import CHECKPOINT, TRAIN, Apply, Files, both
from corpus.random_edits import lint
from scaffold.merge.conflicts import take_side
from scaffold.merge.merge import merge_files
from scaffold.merge.semantics.names import UNDEFINED, find_faults
from scaffold.merge.source.statement import PYTHON, split
from scaffold.project.pristine import Pristine
from support.canonical import canonical
from support.combinations import in_turns
from support.merges.all_cases import CASES, TYPICAL
from support.merges.case import CONFLICT, RIGHT, WARNING, WRONG, Case, judge
from support.merges.moved import END, OURS, RENAMED
from support.merges.styles import STYLES, UPDATES
from support.merges.words import NO_CHECKPOINTS, STEPS
from support.outcomes import Outcome, update_project
from support.rivals import TOOLS, Rival, find_tool

Scores = dict[str, tuple[str, str]]  # by the name of the case: the verdict, and why


def updated(case: Case, folder: Path) -> Outcome:
    """What `scaffold update` makes of the edited project."""
    code, outcome = update_project(folder, case.given[0], case.renders[0], case.mine, *case.updates)
    assert code in (0, 1), outcome.said
    return outcome


def faults(files: Mapping[str, str]) -> set[str]:
    """What pyflakes says of the code, without the lines."""
    code = (text for path, text in files.items() if path.endswith(".py"))
    return {message for text in code for message in lint(text)}


def lines(texts: Iterable[str]) -> Counter[str]:
    return Counter(line.strip() for text in texts for line in text.splitlines())


@pytest.mark.parametrize("name", in_turns(CASES, 24))
def test_case(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    outcome = updated(case, tmp_path / "project")
    verdict, why = judge(case, outcome)
    assert verdict == RIGHT and case.says in outcome.said, f"{why}\n{outcome.said}"
    texts = {path: data.decode() for path, data in outcome.files.items()}
    if outcome.failed:
        if outcome.conflicts() != {WARNING}:
            check_conflict(case, texts)
        return
    known = (case.mine, case.renders[-1], *case.expected)
    assert not faults(texts).difference(*map(faults, known))
    for path, text in texts.items():
        if path in case.mine and "\r\n" in case.mine[path]:
            assert text.count("\n") == text.count("\r\n"), f"{path} has two kinds of newlines"


def check_conflict(case: Case, texts: Files) -> None:
    """The markers are whole, no edit is lost, and the owner's side needs no line of the other.

    On that side, what all three versions have once is there once, wherever it stands.
    """
    first, mine = case.renders[0], case.mine
    for text in texts.values():
        markers = re.findall("^(<{7} |\\|{7} |={7}$|>{7} )", text, flags=re.MULTILINE)
        assert [marker.strip()[0] for marker in markers] == [*"<|=>"] * (len(markers) // 4)
    lost = lines(mine.values()) - lines(first.values()) - lines(texts.values())
    assert not lost, "an edit is lost"
    for path, text in mine.items():
        own = lines([text]).keys() - lines([first.get(path, "")])
        assert own <= lines([texts.get(path, text)]).keys(), f"an edit of {path} is lost"
    # with the owner's side, all names are there but those that the update takes away everywhere
    gone = definitions(first) - definitions(case.renders[-1])
    for path, text in texts.items():
        if path.endswith(".py") and text != first.get(path):
            found = find_faults(take_side(text, ours=True))
            now = {row for row in found if row.kind == UNDEFINED and row.name not in gone}
            now = {row for row in now if f"({row})" not in text}  # a conflict says so
            assert now <= {*find_faults(mine.get(path, ""))}, path
            if path in mine and path in first:
                sides = first[path], mine[path], case.renders[-1].get(path, "")
                base, *others = map(statements, sides)
                kept = {row for row in base if {base[row], *(one[row] for one in others)} == {1}}
                own = statements(take_side(text, ours=True))
                assert all(own[row] == 1 for row in kept), path


def definitions(files: Files) -> set[str]:
    return set(re.findall(r"(?m)^(?:def|class) (\w+)", "\n".join(files.values())))


def statements(text: str) -> Counter[str]:
    return Counter(unit.key for unit in split(text, PYTHON) if not unit.is_comment)


@pytest.mark.parametrize("update", in_turns(UPDATES, 9))
@pytest.mark.parametrize("style", STYLES, ids=lambda style: str(style.__name__))
def test_a_style_is_no_conflict(style: Apply, update: str, tmp_path: Path) -> None:
    """Code that is written otherwise throughout; new comments and statements at any place."""
    case = Case(update, style, (UPDATES[update],), (), (), {})
    outcome = updated(case, tmp_path / "project")
    assert not outcome.conflicts()
    expected = dict(case.renders[1])
    known = {path: text for path, text in expected.items() if path in case.mine}
    style(known)
    expected |= known
    texts = {path: data.decode() for path, data in outcome.files.items()}
    one, two = (
        {ast.dump(node) for node in ast.parse(side.pop(TRAIN)).body} for side in (texts, expected)
    )
    assert one == two and texts == expected


@pytest.mark.parametrize("name", in_turns(CASES, 24))
def test_what_both_sides_did_is_done_once(name: str) -> None:
    """The owner made an edit by hand, and the update brings the same, and a function at the end."""
    base, mine = (dict(files) for files in (CASES[name].renders[0], CASES[name].mine))
    new = mine.keys() - base.keys()
    changed = {path for path in mine.keys() - new if path.endswith(".py")}
    changed = {path for path in changed if mine[path] != base[path]}
    mine |= {path: mine[path].replace("\r\n", "\n") for path in changed | new}
    theirs = mine | {
        path: f"{mine[path].rstrip()}\n\n\ndef last():\n    return 1\n" for path in changed
    }
    merged = merge_files(Pristine("", {}, base), mine, theirs, "the update")
    assert not merged.conflicts
    assert all(merged.files[path] == mine[path] for path in new)
    for path in changed:
        sides = [ast.dump(ast.parse(files[path] or "")) for files in (merged.files, theirs)]
        assert sides[0] == sides[1], path


@pytest.mark.sweep
def test_a_comment_in_a_file_that_goes_is_asked_about(tmp_path: Path) -> None:
    """Beside a name that was changed there and elsewhere, which alone is no reason to ask."""
    outcome = updated(Case("", both(RENAMED, OURS), (NO_CHECKPOINTS,), (), (), {}), tmp_path)
    assert outcome.conflicts() == {CHECKPOINT}
    assert outcome.files[CHECKPOINT].count(b"# ours") == 1


@pytest.mark.sweep
def test_what_a_function_returns_is_no_lost_value(tmp_path: Path) -> None:
    """The end of an epoch, of which an update moves the evaluation elsewhere."""
    outcome = updated(Case("", END, (STEPS,), (), (), {}), tmp_path / "project")
    assert not outcome.conflicts(), outcome.said


@pytest.mark.sweep
def test_each_case_is_an_update() -> None:
    for case in CASES.values():
        for one, other in pairwise(case.renders):
            assert one != other, f"{case}: this is no update"


@pytest.mark.sweep
def test_judge_knows_right_from_wrong() -> None:
    """Each case tells its right results from no update, and from one that overwrites."""

    def verdict(case: Case, files: Mapping[str, str]) -> str:
        return judge(case, Outcome({path: text.encode() for path, text in files.items()}))[0]

    for case in CASES.values():
        first, last = case.renders[0], case.renders[-1]
        assert all(verdict(case, files) == RIGHT for files in case.expected), case
        marked = {**case.mine, "own.py": "<<<<<<< yours\n=======\n>>>>>>> other\n"}
        assert verdict(case, marked) == CONFLICT, case
        assert verdict(case, case.mine) == (RIGHT if first == last else WRONG), case
        # what its owner took out or wrote in advance may leave no trace
        if last not in case.expected:
            assert verdict(case, last) == WRONG, case


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
    """A row for each tool, as it is in the README; and right results by kind of edit."""
    rows = ["| | right | conflict | silently wrong |", "| --- | --- | --- | --- |"]
    for tool, scored in scores.items():
        counts = (str(count(scored)[verdict]) for verdict in (RIGHT, CONFLICT, WRONG))
        rows.append(f"| {tool} | {' | '.join(counts)} |")
    rows.append("")
    topics = Counter(case.topic for case in TYPICAL)
    for topic, number in topics.items():
        right = (
            sum(scored[case.name][0] == RIGHT for case in TYPICAL if case.topic == topic)
            for scored in scores.values()
        )
        rows.append(f"{topic:<14} {number:>3}  {' '.join(f'{value:>9}' for value in right)}")
    return "\n".join(rows)


@pytest.mark.sweep
def test_beside_copier_and_cruft(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same edits and updates with copier and cruft, run for real, and judged alike."""
    missing = [tool for tool in TOOLS if find_tool(tool) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: pip install '.[rivals]'")
    scores: dict[str, Scores] = {"scaffold update": {}}
    for case in TYPICAL:
        outcome = updated(case, tmp_path / "scaffold" / str(len(scores["scaffold update"])))
        scores["scaffold update"][case.name] = judge(case, outcome)
    for tool in TOOLS:
        rival = Rival(tool, tmp_path / tool)
        scored = scores.setdefault(f"{tool} update", {})
        for case in TYPICAL:
            folder = tmp_path / f"{tool}_projects" / str(len(scored))
            scored[case.name] = judge(case, rival.update(case.renders, case.mine, folder))
    with capsys.disabled():
        print(f"\n{table(scores)}\n")
        for tool, scored in scores.items():
            for name, (verdict, why) in scored.items():
                if verdict == WRONG:
                    print(f"{tool} is wrong: {name}: {why}")
    ours, *others = (count(scored) for scored in scores.values())
    assert ours[WRONG] == 0
    assert all(ours[RIGHT] > other[RIGHT] for other in others)
