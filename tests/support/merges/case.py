"""What a case of a merge is, and the one judge of what a tool makes of it.

The right result of an update needs no merge: it is the same edit, made to the project as it is
rendered with the new answers. Where lines may come in either order, a case lists several results.
Where a person has to decide, it says in which files.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from corpus.edit import Apply, Files
from scaffold.answers.catalog import Value
from support.outcomes import Outcome, decoded, difference
from support.rendering import render

Given = Mapping[str, Value]
RIGHT, CONFLICT, WRONG = "right", "conflict", "wrong"
WARNING = "?"  # in place of a file: the update warns, and no file has a conflict


@dataclass(frozen=True)
class Case:
    name: str  # the topic, a colon, what is edited and what is updated
    edit: Apply
    updates: tuple[Given, ...]  # one after the other, of which each changes these answers
    results: tuple[Apply, ...]  # any of these edits of the new render is right
    asks: tuple[str, ...]  # and so is a conflict in these files, if in no other one
    start: Given
    passing: str = ""  # functions of the owner, whose arguments may come in any order
    says: str = ""  # what the update tells its owner

    def __str__(self) -> str:
        return self.name

    @property
    def topic(self) -> str:
        return self.name.partition(":")[0]

    @property
    def given(self) -> list[Given]:
        """The first answers, and those after each update."""
        # the best model: more lines that can be edited
        given = [{"features.best_model.enabled": True, **self.start}]
        for changed in self.updates:
            given.append({**given[-1], **changed})
        return given

    @cached_property
    def renders(self) -> list[Files]:
        """The first render, and that after each update."""
        return [dict(render(answers)) for answers in self.given]

    @cached_property
    def mine(self) -> Files:
        """The first render with the edit."""
        files = dict(self.renders[0])
        self.edit(files)
        assert files != self.renders[0], "this is no edit"
        return files

    @cached_property
    def expected(self) -> list[Files]:
        """All results that are right."""
        found = []
        for edit in self.results:
            files = dict(self.renders[-1])
            edit(files)
            found.append(files)
        return found


CASES: dict[str, Case] = {}


def case(
    name: str,
    edit: Apply,
    *updates: Given,
    result: Apply | None = None,
    also: Sequence[Apply] = (),
    asks: str | tuple[str, ...] = (),
    start: Given | None = None,
    passing: str = "",
    says: str = "",
) -> None:
    """Add a case: the same edit of the new render is right, or `result` in its place.

    If a person is to be asked, only that is right, unless a result is named too.
    """
    assert name not in CASES, name
    results = (result or edit, *also) if result or not asks else ()
    paths = (asks,) if isinstance(asks, str) else asks
    CASES[name] = Case(name, edit, updates, results, paths, start or {}, passing, says)


def judge(case: Case, outcome: Outcome) -> tuple[str, str]:
    """Right, a needless conflict or wrong, and why."""
    conflicts = outcome.conflicts()
    if conflicts:
        if elsewhere := conflicts - {*case.asks}:
            return CONFLICT, f"in {sorted(elsewhere)}"
        if conflicts != {WARNING} or not case.results:
            return RIGHT, ""
    if not case.results:
        return WRONG, "a person had to decide, but there is no conflict"
    files = {path: decoded(path, data) for path, data in outcome.files.items()}
    reasons = [difference(*_passed(case, expected, files)) for expected in case.expected]
    if "" not in reasons:
        return WRONG, reasons[0]
    lost = lost_layout(case, case.expected[reasons.index("")], files)
    return (WRONG, lost) if lost else (RIGHT, "")


def _passed(case: Case, *sides: Files) -> Sequence[Files]:
    """Both sides, with what the owner's functions are passed in one order."""
    if not case.passing:
        return sides
    call = re.compile(rf"\b({case.passing})\(([^)]*)\)")

    def sort(found: re.Match[str]) -> str:
        given = sorted(one.strip() for one in found[2].split(",") if one.strip())
        return f"{found[1]}({', '.join(given)})"

    return [{path: call.sub(sort, text) for path, text in side.items()} for side in sides]


def lost_layout(case: Case, expected: Files, files: Files) -> str:
    """A file that its owner laid out anew, and that is not laid out so any more.

    The lines that the update brings may be laid out in another way.
    """
    first = case.renders[0]
    for path, text in expected.items():
        own = _rows(case.mine.get(path, "")) - _rows(first.get(path, ""))
        kept = own & _rows(text)
        if kept.total() >= (1 if case.topic == "dialect" else 15):
            still = kept & _rows(files[path])
            if still.total() < 0.8 * kept.total():
                return f"{path} is laid out as its owner did not"
    return ""


def _rows(text: str) -> Counter[str]:
    return Counter(row for row in text.splitlines(keepends=True) if row.strip())
