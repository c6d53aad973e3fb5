"""Whether an update of an edited project is right: judged by what the same edit makes of the new
render, and by what both of them train."""

import ast
import contextlib
import hashlib
import itertools
import json
import re
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

import yaml
from pyflakes.checker import Checker

from corpus.changes import answers
from corpus.edit import EDITS, CannotEdit, Edit, Files
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.merge.checks.project import checked_in, find_new_wrongs
from support import training
from support.outcomes import MARKER, decoded, difference, encoded, update_project
from support.paths import DRIVERS
from support.rendering import render

TRACE = DRIVERS / "trace.py"
STAND_INS = Path(__file__).parent / "stand_ins"  # for packages that scripts may import
RIGHT, NEEDED, NOT_NEEDED, WRONG = (
    "right",
    "conflict, needed",
    "conflict, not needed",
    "silently wrong",
)
# what a run does not read
UNUSED = re.compile(
    r"^tests/|\.(md|sbatch|sh|ipynb)$|^(scaffold\.toml|accelerate\.yaml|Dockerfile)$"
)
VERDICTS = (RIGHT, NEEDED, NOT_NEEDED, WRONG)


@dataclass(frozen=True)
class Run:
    """What a project trained: see drivers/trace.py."""

    status: int
    said: str
    events: list[list[object]]
    printed: list[str]
    files: dict[str, object]

    def difference(self, other: "Run") -> str:
        """What this run has that the other has not, or nothing."""
        if self.status != other.status:
            return f"ends with {other.status}: {other.said.strip().splitlines()[-1:]}"
        for kind in ("forward", "loss", "step"):
            mine, theirs = (
                [event[1:] for event in run.events if event[0] == kind] for run in (self, other)
            )
            if mine != theirs:
                return f"{kind}: {len(mine)} and {len(theirs)}, {_first(mine, theirs)}"
        if self.events != other.events:
            return "in another order"
        if self.files != other.files:
            names = self.files.keys() ^ other.files.keys()
            names = names or {k for k in self.files if self.files[k] != other.files[k]}
            return f"files: {sorted(names)}"
        if self.printed != other.printed:
            mine, theirs = Counter(self.printed), Counter(other.printed)
            return (
                f"prints {list((mine - theirs) or '-')[:2]}, not {list((theirs - mine) or '-')[:2]}"
            )
        return ""


def _first(mine: Sequence[object], theirs: Sequence[object]) -> str:
    pairs = [(one, two) for one, two in zip(mine, theirs, strict=False) if one != two]
    return f"first {pairs[0][0]} and {pairs[0][1]}" if pairs else "the first ones are equal"


@dataclass(frozen=True)
class Verdict:
    names: tuple[str, ...]  # of the edits
    change: str
    verdict: str
    why: str = ""
    files: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{' + '.join(self.names)} | {self.change} | {self.verdict} | {self.why}"


def edited(names: Sequence[str], files: Mapping[str, str]) -> Files:
    """The files with these edits, one after the other. Raises CannotEdit."""
    result = dict(files)
    for name in names:
        result = EDITS[name](result)
    return result


_runs: dict[str, Run] = {}


def train(files: Mapping[str, str]) -> Run:
    """Train a project for a few steps. Equal projects are trained once."""
    code = {path: text for path, text in files.items() if not UNUSED.search(path)}
    key = hashlib.sha256(json.dumps(sorted(code.items())).encode()).hexdigest()
    if key not in _runs:
        _runs[key] = _train(code)
    return _runs[key]


def _train(files: Mapping[str, str]) -> Run:
    with tempfile.TemporaryDirectory(dir=scratch()) as temporary:
        folder = Path(temporary) / "project"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(encoded(path, text))
        result = Path(temporary) / "result.json"
        scripts = [path for path in files if re.search(r"(^|/)(\w+_)?(train|main)\.py$", path)]
        script = min(scripts, key=lambda path: (path != "train.py", path), default="train.py")
        try:
            done = training.start(
                folder, [TRACE, result, script], 1, timeout=60, SCAFFOLD_STAND_INS=str(STAND_INS)
            )
        except Exception as error:  # TimeoutExpired
            return Run(99, f"{type(error).__name__}", [], [], {})
        if not result.exists():
            return Run(98, done.stderr[-400:], [], [], {})
        found = json.loads(result.read_text())
        return Run(*(found[name] for name in ("status", "said", "events", "printed", "files")))


def scratch() -> str | None:
    """A folder in memory, where there is one: flushing to a disk takes most of the time."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def merged(names: Sequence[str], change: str) -> tuple[int, str, Files]:
    """A project as `scaffold new` writes it, edited, then updated: status, output and files."""
    old, new = answers(change)
    base = render(old)
    mine = edited(names, base)
    before, after = (resolve(load_catalog(), {"project.name": "example", **a}) for a in (old, new))
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    with tempfile.TemporaryDirectory(dir=scratch()) as temporary:
        code, outcome = update_project(Path(temporary) / "project", old, base, mine, changed)
    return code, outcome.said, {path: decoded(path, data) for path, data in outcome.files.items()}


def judge(names: Sequence[str], change: str) -> Verdict | None:
    """What scaffold made of it; None where the edit can't be made before the change."""
    try:
        code, said, files = merged(names, change)
    except CannotEdit:
        return None
    return judge_result(names, change, code, said, files)


def judge_result(
    names: Sequence[str], change: str, code: int, said: str, files: Files
) -> Verdict | None:
    """What a tool made of it, from its exit status and the files that it left."""
    names = tuple(names)
    old, new = answers(change)
    base, theirs = dict(render(old)), dict(render(new))
    try:
        mine = edited(names, base)
    except CannotEdit:
        return None
    # an own file with an incoming name: nothing can stand in its place
    taken = [
        path for path in mine.keys() & theirs.keys() - base.keys() if mine[path] != theirs[path]
    ]
    expected = [] if taken else expectations([EDITS[name] for name in names], base, theirs)
    asked = any(change in EDITS[name].decide for name in names)
    marked = [path for path, text in files.items() if MARKER.search(text.encode())]
    if code or marked:
        if code not in (0, 1):
            return Verdict(names, change, WRONG, f"ends with {code}: {said[-200:]}", files)
        if asked or not expected:
            return Verdict(names, change, NEEDED, "the edit can't be made there", files)
        if both_chose(base, mine, theirs):
            return Verdict(names, change, NEEDED, "two values for one setting", files)
        if train(mine).status or all(train(one).status for one in expected):
            return Verdict(names, change, NEEDED, "the edit can't be used there", files)
        if not marked and any(wrong_by_hand(mine, one, theirs, files) for one in expected):
            return Verdict(names, change, NEEDED, "the edit, made by hand, breaks it too", files)
        return Verdict(names, change, NOT_NEEDED, ", ".join(marked) or said[-200:], files)
    if asked:
        return Verdict(names, change, WRONG, "a person had to look", files)
    if any(same_code(one, files) for one in expected):
        return Verdict(names, change, RIGHT, "the same code", files)
    if train(mine).status:  # the edit itself does not train: nothing is known
        if len(names) > 1:
            return None  # edits that do not go together
        said = train(mine).said[-200:]
        return Verdict(names, change, WRONG, f"not the same code; {said}", files)
    reasons = []
    for one in expected:
        if not train(one).status:
            why = texts_differ(one, base, theirs, files) or train(one).difference(train(files))
            why = why or lost(mine, base, theirs, files) or undefined(mine, theirs, files)
            reasons.append(why or uncalled(one, base, theirs, files))
    if not reasons:
        why = holds_together(mine, base, theirs, files)
        if why:
            return Verdict(names, change, WRONG, f"(no expected result) {why}", files)
        return Verdict(names, change, RIGHT, "nothing is lost", files)
    if "" in reasons:
        return Verdict(names, change, RIGHT, "the same training", files)
    return Verdict(names, change, WRONG, reasons[0], files)


def expectations(edits: Sequence[Edit], base: Files, theirs: Files) -> list[Files]:
    """The same edits of the new render, in each way that they can be made there.

    Those that erase a part of what the change brings are left out: somebody has to choose.
    """
    found = []
    ways = [range(1 + len(edit.others)) for edit in edits]
    for way in itertools.product(*ways):
        with contextlib.suppress(CannotEdit):
            one = dict(theirs)
            for edit, number in zip(edits, way, strict=True):
                one = edit(one, number)
            if not erased(one, base, theirs):
                found.append(one)
    return found


def erased(expected: Files, base: Files, theirs: Files) -> set[str]:
    """Words that only the change brings, and of which the edit takes some away."""
    was, new, now = (_words(_code(files)) for files in (base, theirs, expected))
    return {word for word in new if not was[word] and now[word] < new[word]}


def _code(files: Files) -> Files:
    return {path: text for path, text in files.items() if path.endswith(".py")}


def wrong_by_hand(mine: Files, expected: Files, theirs: Files, files: Files) -> bool:
    """Whether all that is warned of is as wrong where the same edit was made by hand.

    Such as a notebook that the change brings, and that imports the Config that its owner replaced.
    """
    before, rendered = checked_in(mine), checked_in(theirs)
    said, known = (
        set(find_new_wrongs(before, checked_in(side), rendered)) for side in (files, expected)
    )
    return bool(said) and said <= known


def both_chose(base: Files, mine: Files, theirs: Files) -> bool:
    """Whether owner and update give one setting two new values: somebody has to choose."""
    for path in base.keys() & mine.keys() & theirs.keys():
        if path.endswith(".py"):
            was, own, new = (values(side[path]) for side in (base, mine, theirs))
            for name in was.keys() & own.keys() & new.keys():
                if len({was[name], own[name], new[name]}) == 3:
                    return True
    return False


def values(text: str) -> dict[str, str]:
    """The fields of the classes of a file, with their values."""
    with contextlib.suppress(SyntaxError):
        return {
            f"{node.name}.{ast.unparse(row.target)}": ast.unparse(row.value)
            for node in ast.parse(text).body
            if isinstance(node, ast.ClassDef)
            for row in node.body
            if isinstance(row, ast.AnnAssign) and row.value
        }
    return {}


def same_code(expected: Files, files: Files) -> bool:
    """As the judge of the cases has it; and a table may be written in another way."""
    sides = (
        {
            path: repr(tomllib.loads(text)) if path.endswith(".toml") else text
            for path, text in side.items()
        }
        for side in (expected, files)
    )
    return not difference(*sides)


def texts_differ(expected: Files, base: Files, theirs: Files, files: Files) -> str:
    """Whether a file is missing, or one that is generated and no Python says something else."""
    for path in sorted(expected.keys() | files.keys()):
        one, two = expected.get(path), files.get(path)
        if one is not None and two is not None and path not in base.keys() | theirs.keys():
            continue
        if path == "README.md" or path.startswith("tests/"):
            continue
        if one is None or two is None:
            return f"{path} is {'missing' if two is None else 'there'}"
        if path.endswith(".py") or one == two:
            continue
        if sorted(one.split()) != sorted(two.split()):
            return f"{path} differs"
    return ""


def lost(mine: Files, base: Files, theirs: Files, files: Files) -> str:
    """A word that only the owner has written and that is gone, or a statement that is back."""
    own = _words(mine)
    known = _words(base).keys() | _words(theirs).keys()
    for word, count in own.items():
        if word not in known and _words(files)[word] < count:
            return f"{word!r} of the owner is there {_words(files)[word]} times, not {count}"
    return ""


def uncalled(expected: Files, base: Files, theirs: Files, files: Files) -> str:
    """A call that is not made, though that has no effect in so few steps.

    What the update brings may be called as it is generated, and not as the owner calls it.
    """
    wanted, found = calls(expected), calls(files)
    added = calls(theirs) - calls(base)
    missing, instead = wanted - found, (found - wanted) & added
    return f"{sorted(missing)} is not called" if missing.total() > instead.total() else ""


def calls(files: Files) -> Counter[str]:
    """How often each function is called in the code, whoever holds the object."""
    return Counter(
        ast.unparse(node.func).removeprefix("self.")
        for path, text in files.items()
        if path.endswith(".py") and not path.startswith("tests/") and not syntax(path, text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
    )


def back(mine: Files, base: Files, theirs: Files, files: Files) -> str:
    """A statement that its owner took out, and that is there again."""
    counts = [Counter(statements(side)) for side in (base, mine, theirs, files)]
    was, own, new, now = counts
    for row in was:
        if own[row] == 0 and new[row] == was[row] and now[row] > 0:
            return f"{row!r} is back"
    return ""


def statements(files: Files) -> list[tuple[str, str]]:
    """The statements without a body, and without imports, by file."""
    found = []
    for path, text in files.items():
        if path.endswith(".py") and not path.startswith("tests/"):
            with contextlib.suppress(SyntaxError):
                for node in ast.walk(ast.parse(text)):
                    other = hasattr(node, "body") or isinstance(node, ast.Import | ast.ImportFrom)
                    if isinstance(node, ast.stmt) and not other:
                        found.append((path, ast.unparse(node)))
    return found


def _words(files: Files) -> Counter[str]:
    return Counter(
        word
        for path, text in files.items()
        if not path.startswith("tests/")
        for word in re.findall(r"\w+", text)
    )


def holds_together(mine: Files, base: Files, theirs: Files, files: Files) -> str:
    """What is wrong with a result for which there is no other to compare with."""
    run = train(files)
    if run.status:
        return f"does not train: {run.said.strip().splitlines()[-1:]}"
    return loses(mine, base, theirs, files)


def loses(mine: Files, base: Files, theirs: Files, files: Files) -> str:
    """The same, as far as it is seen without training."""
    for path, text in files.items():
        if problem := syntax(path, text):
            return problem
    found = lost(mine, base, theirs, files) or gone(mine, base, theirs, files)
    return found or back(mine, base, theirs, files) or undefined(mine, theirs, files)


def undefined(mine: Files, theirs: Files, files: Files) -> str:
    """A name that nothing defines, or that is defined twice, as on neither side."""
    for path, text in files.items():
        if path.endswith(".py"):
            known = faults(mine.get(path, "")) | faults(theirs.get(path, ""))
            if new := faults(text) - known:
                return f"{path}: {sorted(new)}"
    return ""


def gone(mine: Files, base: Files, theirs: Files, files: Files) -> str:
    """A statement of the owner's that is not there, nor one that is much like it."""
    was, own, new, now = (Counter(statements(side)) for side in (base, mine, theirs, files))
    there = [row for path, row in now - new]
    for path, row in own - was:
        if not now[path, row] and not any(_alike(row, other) for other in there):
            return f"{row!r} is gone"
    return ""


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other).ratio() > 0.6


def syntax(path: str, text: str) -> str:
    """Why a file can't be read, or nothing."""
    try:
        if path.endswith(".py"):
            ast.parse(text)
        elif path.endswith((".json", ".ipynb")):
            json.loads(text)
        elif path.endswith((".yaml", ".yml")):
            list(yaml.safe_load_all(text))
        elif path.endswith(".toml"):
            tomllib.loads(text)
    except (SyntaxError, ValueError, yaml.YAMLError) as error:
        return f"{path}: {type(error).__name__}: {error}"
    if path.endswith("Dockerfile") and len(re.findall("(?m)^CMD|^ENTRYPOINT", text)) > 1:
        return f"{path} starts two commands"
    return ""


@cache
def faults(text: str) -> frozenset[str]:
    try:
        messages = Checker(ast.parse(text)).messages
    except SyntaxError:
        return frozenset()
    kinds = ("UndefinedName", "UndefinedLocal", "RedefinedWhileUnused", "ImportStarUsed")
    return frozenset(
        f"{type(message).__name__} {message.message_args}"
        for message in messages
        if type(message).__name__ in kinds
    )
