"""What the merge makes of many edited projects, kept in a file to compare a later merge with.

`python tests/corpus/report.py --freeze FILE` writes inputs and results, `--compare FILE` prints
each case whose result is another one: its texts, conflicts, notes or warnings.
"""

import difflib
import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.changes import answers
from corpus.edit import EDITS, CannotEdit
from scaffold.commands.plan import _make_room
from scaffold.merge.merge import merge_files
from scaffold.project.moves import find_moved
from scaffold.project.pristine import Pristine
from support.merges.all_cases import TYPICAL
from support.rendering import render

Files = dict[str, str]
SETTINGS = "scaffold.toml"


@dataclass(frozen=True)
class Case:
    """One project before and after its owner's edit, and its new render."""

    name: str
    moved: Mapping[str, str]
    base: Files
    mine: Files
    theirs: Files

    def result(self) -> dict[str, Any]:
        """What the merge makes of it."""
        pristine = Pristine("0", {}, self.base, dict(self.moved))
        merged = merge_files(pristine, self.mine, self.theirs, "a cause")
        return {
            "files": merged.files,
            "conflicts": [[row.path, row.line, row.label] for row in merged.conflicts],
            "notes": merged.notes,
            "warnings": merged.warnings,
        }


def of_corpus(wanted: Iterable[tuple[tuple[str, ...], str]]) -> Iterator[Case]:
    """Edits of the corpus with a change each, without those that can't be made."""
    for names, change in sorted(wanted, key=lambda case: case[1]):
        base, theirs = (dict(render(given)) for given in answers(change))
        mine = dict(base)
        try:
            for name in names:
                mine = EDITS[name](mine)
        except CannotEdit:
            continue
        yield case(f"{' + '.join(names)} | {change}", base, mine, theirs)


def of_cases() -> Iterator[Case]:
    """The first update of each typical case of tests/support/merges/."""
    for one in TYPICAL:
        yield case(f"case {one.name}", one.renders[0], one.mine, one.renders[1])


def case(name: str, base: Files, mine: Files, theirs: Files) -> Case:
    """A case with the places to which the owner moved files."""
    base, mine, theirs = (
        {path: text for path, text in files.items() if path != SETTINGS}
        for files in (base, mine, theirs)
    )
    pristine = Pristine("0", {}, base)
    pristine = Pristine("0", {}, base, find_moved(pristine, mine))
    pristine, _ = _make_room(pristine, mine, theirs)
    return Case(name, pristine.moved, base, mine, theirs)


def freeze(path: Path, cases: Iterable[Case]) -> int:
    """Write cases with their results. Returns how many there are."""
    texts: dict[str, str] = {}

    def kept(files: Mapping[str, str | None]) -> dict[str, str | None]:
        keys: dict[str, str | None] = {}
        for name, text in files.items():
            keys[name] = text and hashlib.sha256(text.encode()).hexdigest()[:20]
            if text:
                texts[keys[name] or ""] = text
        return keys

    rows = []
    for one in cases:
        result = one.result()
        sides = [kept(files) for files in (one.base, one.mine, one.theirs)]
        rows.append([one.name, dict(one.moved), *sides, {**result, "files": kept(result["files"])}])
    path.write_text(json.dumps({"texts": texts, "cases": rows}))
    return len(rows)


def compare(path: Path, part: int = 0, of: int = 1, show: bool = False) -> int:
    """Print each case whose result is another one. Returns how many these are."""
    held = json.loads(path.read_text())
    texts, start, different = held["texts"], time.perf_counter(), 0

    def read(keys: Mapping[str, str | None]) -> dict[str, Any]:
        return {name: key and texts[key] for name, key in keys.items()}

    rows = held["cases"][part::of]
    for name, moved, base, mine, theirs, result in rows:
        before = {**result, "files": read(result["files"])}
        try:
            after = Case(name, moved, read(base), read(mine), read(theirs)).result()
        except Exception as error:
            after = {"files": {}, "raised": repr(error)}
        if after != before:
            different += 1
            held_out = any(
                EDITS[one].held_out for one in name.split(" | ")[0].split(" + ") if one in EDITS
            )
            print(f"{name}: {'' if held_out else differences(before, after, show)}", flush=True)
    print(f"{different} of {len(rows)} are different, in {time.perf_counter() - start:.0f} s")
    return different


def differences(before: Mapping[str, Any], after: Mapping[str, Any], show: bool) -> str:
    """Which parts of a result differ, with their lines if wanted."""
    found = []
    for key in after:
        if key != "files" and after[key] != before.get(key):
            found.append(f"{key}: {before.get(key)} -> {after[key]}")
    for path in sorted({*before["files"], *after["files"]}):
        one, two = (side["files"].get(path, "") or "" for side in (before, after))
        if one != two or (path in before["files"]) != (path in after["files"]):
            found.append(path)
            lines = one.splitlines(), two.splitlines()
            rows = difflib.unified_diff(*lines, "before", "after", n=2)
            found += list(rows) if show else []
    return "\n  ".join(found)
