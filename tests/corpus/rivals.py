"""The same edits and updates with other tools: copier, cruft, and three-way merges of files."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from corpus.changes import answers
from corpus.edit import CannotEdit, Files
from corpus.judge import Verdict, edited, judge_result
from support.outcomes import decoded, encoded
from support.rendering import render
from support.rivals import TOOLS, Rival

LINES, TREES = "git merge-file", "mergiraf"


class Bench:
    """Runs one of the tools. Templates and projects of copier and cruft are made once a change."""

    def __init__(self, tool: str, folder: Path) -> None:
        self.tool, self.folder, self.number = tool, folder, 0
        self.rival = Rival(tool, folder / tool) if tool in TOOLS else None

    def judge(self, names: Sequence[str], change: str) -> Verdict | None:
        """What the tool made of it; None where the edit can't be made before the change."""
        old, new = (dict(render(given)) for given in answers(change))
        try:
            mine = edited(names, old)
        except CannotEdit:
            return None
        code, files = self.update(old, mine, new)
        return judge_result(names, change, code, self.tool, files)

    def update(self, base: Files, mine: Files, theirs: Files) -> tuple[int, Files]:
        if self.rival is None:
            return merge_by_file(
                base, mine, theirs, merge_lines if self.tool == LINES else merge_trees
            )
        self.number += 1
        place = self.folder / f"{self.tool}-{self.number}"
        outcome = self.rival.update([base, theirs], mine, place)
        shutil.rmtree(place)
        files = {path: decoded(path, data) for path, data in outcome.files.items()}
        return int(bool(outcome.conflicts())), files


Merge = Callable[[str, bytes, bytes, bytes], tuple[int, bytes]]


def merge_by_file(
    base: Mapping[str, str], mine: Mapping[str, str], theirs: Mapping[str, str], merge: Merge
) -> tuple[int, Files]:
    """As git merges two branches: file by file."""
    result: Files = {}
    code = 0
    for path in sorted(base.keys() | mine.keys() | theirs.keys()):
        old, own, new = base.get(path), mine.get(path), theirs.get(path)
        if own in (old, new):
            chosen = new
        elif new == old:
            chosen = own
        elif own is None or new is None:  # deleted here, changed there
            chosen, code = own or new, 1
        else:
            sides = (encoded(path, own), encoded(path, old or ""), encoded(path, new))
            status, data = merge(path, *sides)
            chosen, code = decoded(path, data), code or status
        if chosen is not None:
            result[path] = chosen
    return code, result


def merge_lines(path: str, own: bytes, old: bytes, new: bytes) -> tuple[int, bytes]:
    return _run(["git", "merge-file", "-p", "--diff3"], path, own, old, new)


def merge_trees(path: str, own: bytes, old: bytes, new: bytes) -> tuple[int, bytes]:
    """Mergiraf wants the base first."""
    return _run(["mergiraf", "merge"], path, old, own, new)


def _run(command: Sequence[str], path: str, *sides: bytes) -> tuple[int, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, data in enumerate(sides):
            name = Path(folder) / str(number) / Path(path).name
            name.parent.mkdir()
            name.write_bytes(data)
            names.append(str(name))
        done = subprocess.run([*command, *names], capture_output=True)
    return int(done.returncode != 0), done.stdout
