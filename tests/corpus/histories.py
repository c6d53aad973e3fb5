"""Merges from the history of a public repository, made again: `histories.py --help`.

Of each merge commit, the Python files in which `git merge-file` conflicts are merged by scaffold,
and compared with what people committed. The text of a repository is read from a copy of it on this
machine, and never kept here.
"""

import argparse
import ast
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from corpus.judge import faults  # noqa: E402
from scaffold.merge.merge import merge_files  # noqa: E402
from scaffold.project.pristine import Pristine  # noqa: E402
from support.canonical import canonical  # noqa: E402

EQUAL, ORDER, OTHER, CONFLICT, UNREADABLE = (
    "as people committed it",
    "but for imports and comments",
    "differs",
    "conflict",
    "not Python",
)
KINDS = (EQUAL, ORDER, OTHER, CONFLICT, UNREADABLE)


@dataclass(frozen=True)
class Merge:
    """One file of a merge commit."""

    commit: str
    path: str
    base: str
    ours: str
    theirs: str
    people: str  # what was committed


@dataclass(frozen=True)
class Result:
    merge: Merge
    kind: str
    text: str
    new_faults: frozenset[str]  # of pyflakes, on neither side

    def __str__(self) -> str:
        more = f" | {sorted(self.new_faults)}" if self.new_faults else ""
        return f"{self.merge.commit[:9]} {self.merge.path} | {self.kind}{more}"


class Repository:
    """A git repository on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), *arguments]
        done = subprocess.run(command, capture_output=True)
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

    def text(self, commit: str, path: str) -> str:
        return self.git("show", f"{commit}:{path}")

    def merges(self, most: int) -> Iterator[Merge]:
        """The files of merge commits in which both sides changed something, the newest first."""
        for row in self.git("rev-list", "--merges", "--parents", "--all").splitlines()[:most]:
            commit, *parents = row.split()
            if len(parents) == 2:
                yield from self._of_commit(commit, *parents)

    def _of_commit(self, commit: str, first: str, second: str) -> Iterator[Merge]:
        base = self.git("merge-base", first, second).strip()
        changed = [
            set(self.git("diff", "--name-only", base, side, "--", "*.py").splitlines())
            for side in (first, second)
        ]
        for path in sorted(changed[0] & changed[1]) if base else ():
            texts = [self.text(side, path) for side in (base, first, second, commit)]
            if all(texts) and len(set(texts[:3])) == 3:
                yield Merge(commit, path, *texts)


def git_conflicts(merge: Merge) -> bool:
    """Whether `git merge-file` leaves conflicts."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("ours", "base", "theirs")]
        for path, text in zip(paths, (merge.ours, merge.base, merge.theirs), strict=True):
            path.write_text(text)
        done = subprocess.run(["git", "merge-file", "-p", *map(str, paths)], capture_output=True)
    return done.returncode != 0


def judge(merge: Merge) -> Result:
    """What scaffold makes of it."""
    path = Path(merge.path).name
    pristine = Pristine("0", {}, {path: merge.base})
    merged = merge_files(pristine, {path: merge.ours}, {path: merge.theirs}, "theirs")
    text = merged.files[path] or ""
    if merged.conflicts or merged.warnings:
        return Result(merge, CONFLICT, text, frozenset())
    try:
        kind = EQUAL if _tree(text) == _tree(merge.people) else OTHER
    except SyntaxError:
        return Result(merge, UNREADABLE, text, frozenset())
    if kind == OTHER and _sorted(text) == _sorted(merge.people):
        kind = ORDER
    new = faults(text) - faults(merge.ours) - faults(merge.theirs)
    return Result(merge, kind, text, new)


def _sorted(text: str) -> object:
    """What it says without comments, with sorted imports."""
    return canonical("a.py", ast.unparse(ast.parse(text)))


def _tree(text: str) -> str:
    return ast.dump(ast.parse(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="+", type=Path, help="folders of git repositories")
    parser.add_argument("--most", type=int, default=10_000, help="merge commits of each")
    parser.add_argument("--files", type=int, default=10_000, help="about so many files of each")
    parser.add_argument("--show", type=Path, help="write the four texts and the result below it")
    given = parser.parse_args()
    for folder in given.repository:
        counts: Counter[str] = Counter()
        seen: set[tuple[str, ...]] = set()
        for merge in Repository(folder).merges(given.most):
            texts = (merge.base, *sorted((merge.ours, merge.theirs)))
            if texts in seen or not git_conflicts(merge):
                continue
            if len(seen) >= given.files:
                break
            seen.add(texts)  # branches are merged into one another again and again
            result = judge(merge)
            counts[result.kind] += 1
            counts["with new faults"] += bool(result.new_faults)
            print(result, flush=True)
            if given.show:
                write(given.show, folder, result)
        total = sum(counts[kind] for kind in KINDS)
        print(f"{folder}: {total} files, {dict(counts)}", flush=True)


def write(where: Path, folder: Path, result: Result) -> None:
    merge = result.merge
    name = f"{folder.name} {merge.commit[:9]} {merge.path.replace('/', '-')} {result.kind}"
    place = where / name.replace(" ", "_")
    place.mkdir(parents=True, exist_ok=True)
    sides = {
        "base": merge.base,
        "ours": merge.ours,
        "theirs": merge.theirs,
        "people": merge.people,
        "result": result.text,
    }
    for side, text in sides.items():
        (place / f"{side}.py").write_text(text)


if __name__ == "__main__":
    main()
