"""How an edit of the corpus is written down, and the small changes that edits are made of.

A statement is found by how it begins, written on one line, at whatever indentation: so the same
edit can be made to a project that is rendered with other answers. An edit that finds nothing to
change raises `CannotEdit`.
"""

import ast
import hashlib
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Files = dict[str, str]
Apply = Callable[[Files], None]

TRAIN, DATA, MODEL, CALLBACKS, CHECKPOINT, METRICS, CONFIG = (
    "train.py",
    "data.py",
    "model.py",
    "callbacks.py",
    "checkpoint.py",
    "metrics.py",
    "config.py",
)


# the source of a kind that owners told of, for which no file is named
REPORTED = "reported"


# held out by their hash, until one of their results was looked at to mend the merge
LOOKED_AT = frozenset(
    {
        "README of the owner",
        "Trainer class with a method for each part",
        "accelerator in one line",
        "anomalies detected",
        "compute_loss renamed",
        "gradients cleared before the backward pass",
        "gradients clipped by value",
        "one epoch as a function",
    }
)


class CannotEdit(Exception):
    """What an edit changes is not there."""


@dataclass(frozen=True)
class Edit:
    """A kind of edit that somebody made to a training script."""

    name: str
    source: str  # where it was seen: owner/name:file of a public repository, or REPORTED
    words: str  # what is changed
    apply: Apply
    others: tuple[Apply, ...] = ()  # where it might stand as well, or that nothing is left to edit
    decide: tuple[str, ...] = ()  # changes after which a person has to look

    @property
    def held_out(self) -> bool:
        """Whether single results of it are looked at by nobody while the merge is worked on."""
        return (
            self.name not in LOOKED_AT and hashlib.sha256(self.name.encode()).digest()[0] % 2 == 1
        )

    def __call__(self, files: Files, way: int = 0) -> Files:
        """The files with this edit. Raises CannotEdit.

        Nothing may be left to edit, if it says so, and if it can't be made in the first way.
        """
        edited = dict(files)
        try:
            [self.apply, *self.others][way](edited)
        except (CannotEdit, KeyError, SyntaxError) as error:
            raise CannotEdit(f"{self.name}: {error}") from error
        if edited == files and (way == 0 or self.fits(files)):
            raise CannotEdit(f"{self.name}: nothing changed")
        return edited

    def fits(self, files: Files) -> bool:
        """Whether it can be made in the first way."""
        try:
            self(files)
        except CannotEdit:
            return False
        return True

    def __str__(self) -> str:
        return self.name


EDITS: dict[str, Edit] = {}


def kind(name: str, source: str, words: str) -> Callable[..., None]:
    """Adds an edit, which is called with its steps: they are made one after the other.

    After an update it may as well be made in one of the ways in `also`, each in place of all steps.
    After the changes in `decide` nobody but the owner knows what the edit should become.
    """
    assert name not in EDITS, name

    def add(*steps: Apply, also: Sequence[Apply] = (), decide: Sequence[str] = ()) -> None:
        EDITS[name] = Edit(name, source, words, both(*steps), tuple(also), tuple(decide))

    return add


def nothing(files: Files) -> None:
    """What is left of an edit of lines that are gone."""


def both(*steps: Apply) -> Apply:
    def apply(files: Files) -> None:
        for step in steps:
            step(files)

    return apply


# finding statements


@dataclass(frozen=True)
class Place:
    """The lines of a statement, counted from 0, without the last; and where it stands."""

    start: int
    end: int
    margin: str
    text: str  # on one line
    function: str
    node: ast.stmt


def places(text: str) -> list[Place]:
    """All statements of a file."""
    lines = text.splitlines()
    found: list[Place] = []

    def visit(body: list[ast.stmt], function: str) -> None:
        for node in body:
            heads = [item.lineno for item in getattr(node, "decorator_list", [])]
            start, end = min([node.lineno, *heads]) - 1, node.end_lineno or 0
            row = lines[start]
            whole = " ".join(" ".join(lines[start:end]).split()).replace("( ", "(")
            margin = row[: len(row) - len(row.lstrip())]
            found.append(Place(start, end, margin, whole.replace(", )", ")"), function, node))
            inside = function
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                inside = f"{function}.{node.name}".strip(".")
            for name in ("body", "orelse", "finalbody"):
                if rows := getattr(node, name, None):
                    visit(rows, inside)
            for handler in getattr(node, "handlers", []):
                visit(handler.body, inside)

    visit(ast.parse(text).body, "")
    return found


def find(
    text: str, pattern: str, function: str | None = None, times: int | None = 1
) -> list[Place]:
    """The statements that begin like this. Raises CannotEdit unless there are as many."""
    found = [
        place
        for place in places(text)
        if re.match(pattern, place.text) and function in (None, place.function)
    ]
    if not found or (times is not None and len(found) != times):
        raise CannotEdit(f"{pattern!r} is there {len(found)} times")
    return found


def rows(text: str, margin: str) -> list[str]:
    """Lines of an edit at an indentation."""
    block = textwrap.dedent(text).strip("\n").splitlines()
    return [margin + row if row.strip() else "" for row in block]


def splice(text: str, start: int, end: int, new: list[str]) -> str:
    lines = text.splitlines()
    lines[start:end] = new
    return "\n".join(lines) + "\n"


# steps


def at(path: str, step: Callable[[Files, str], None]) -> Apply:
    """A step in a file. The settings of train.py are in config.py."""

    def apply(files: Files) -> None:
        try:
            step(files, path)
        except (CannotEdit, KeyError):
            if path != TRAIN or CONFIG not in files:
                raise
            step(files, CONFIG)

    return apply


def after(path: str, pattern: str, new: str, function: str | None = None) -> Apply:
    def step(files: Files, path: str) -> None:
        (place,) = find(files[path], pattern, function)
        files[path] = splice(files[path], place.end, place.end, rows(new, place.margin))

    return at(path, step)


def before(path: str, pattern: str, new: str, function: str | None = None) -> Apply:
    def step(files: Files, path: str) -> None:
        (place,) = find(files[path], pattern, function)
        files[path] = splice(files[path], place.start, place.start, rows(new, place.margin))

    return at(path, step)


def replace(path: str, pattern: str, new: str, function: str | None = None) -> Apply:
    """A whole statement becomes others; nothing, if `new` is empty."""

    def step(files: Files, path: str) -> None:
        (place,) = find(files[path], pattern, function)
        files[path] = splice(files[path], place.start, place.end, rows(new, place.margin))

    return at(path, step)


def delete(path: str, pattern: str, function: str | None = None) -> Apply:
    return replace(path, pattern, "", function)


def comment_out(path: str, pattern: str) -> Apply:
    def step(files: Files, path: str) -> None:
        (place,) = find(files[path], pattern)
        lines = files[path].splitlines()[place.start : place.end]
        width = len(place.margin)
        new = [f"{place.margin}# {row[width:]}" for row in lines]
        files[path] = splice(files[path], place.start, place.end, new)

    return at(path, step)


def wrap(
    path: str, first: str, last: str, head: str, function: str | None = None, tail: str = ""
) -> Apply:
    """The statements from one to another go into a block."""

    def step(files: Files, path: str) -> None:
        start, end, margin = span(files[path], first, last, function)
        lines = files[path].splitlines()[start:end]
        inside = [f"    {row}" if row else "" for row in lines]
        new = [*rows(head, margin), *inside, *rows(tail, margin)]
        files[path] = splice(files[path], start, end, new)

    return at(path, step)


def cut(path: str, first: str, last: str, new: str = "", function: str | None = None) -> Apply:
    """The statements from one to another become others."""

    def step(files: Files, path: str) -> None:
        start, end, margin = span(files[path], first, last, function)
        files[path] = splice(files[path], start, end, rows(new, margin))

    return at(path, step)


def span(text: str, first: str, last: str, function: str | None = None) -> tuple[int, int, str]:
    """The lines from one statement to another at the same depth."""
    start = find(text, first, function, None)[0]
    ends = [place for place in find(text, last, function, None) if place.margin == start.margin]
    ends = [place for place in ends if place.start >= start.start]
    if not ends:
        raise CannotEdit(f"{last!r} is not behind {first!r}")
    return start.start, ends[0].end, start.margin


def sub(
    path: str, pattern: str, new: str | Callable[[re.Match[str]], str], count: int | None = 1
) -> Apply:
    """A part of a text becomes another, so many times (None: at least once)."""

    def step(files: Files, path: str) -> None:
        text, made = re.subn(pattern, new, files[path], flags=re.MULTILINE)
        if made == 0 or count not in (None, made):
            raise CannotEdit(f"{pattern!r} is in {path} {made} times")
        files[path] = text

    return at(path, step)


def everywhere(pattern: str, new: str) -> Apply:
    """A part of the text of all files of Python that are no tests."""

    def apply(files: Files) -> None:
        made = 0
        for path in files:
            if path.endswith(".py") and not path.startswith("tests/"):
                files[path], count = re.subn(pattern, new, files[path], flags=re.MULTILINE)
                made += count
        if not made:
            raise CannotEdit(f"{pattern!r} is nowhere")

    return apply


def in_tests(pattern: str, new: str) -> Apply:
    """A part of the text of the project's tests, as often as it is there."""

    def apply(files: Files) -> None:
        for path in files:
            if path.startswith("tests/"):
                files[path] = re.sub(pattern, new, files[path])

    return apply


def add_import(path: str, row: str) -> Apply:
    """An import that is not there yet, behind the last one that is of its group."""

    def apply(files: Files) -> None:
        if row in files[path].splitlines():
            return
        lines = files[path].splitlines()
        own = re.match(r"(from|import) (\w+)", row)
        assert own
        local = f"{own[2]}.py" in files
        found = [place for place in places(files[path]) if not place.function]
        imports = [place for place in found if isinstance(place.node, ast.Import | ast.ImportFrom)]

        def group(text: str) -> int:
            head = re.match(r"(from|import) (\w+)", text)
            assert head
            return 2 if f"{head[2]}.py" in files else 1 if head[2] in THIRD else 0

        mine = 2 if local else 1 if own[2] in THIRD else 0
        above = [place for place in imports if group(place.text) <= mine]
        at = above[-1].end if above else imports[0].start
        lines[at:at] = [row]
        files[path] = "\n".join(lines) + "\n"

    return apply


THIRD = {"torch", "accelerate", "numpy", "sklearn", "tqdm", "safetensors", "wandb", "hydra", "tyro"}


def field(row: str, behind: str = "seed") -> Apply:
    """One more field of Config, behind another."""
    return after(TRAIN, rf"{behind}: ", row, "Config")


def define(path: str, text: str, above: str = r"(@torch.no_grad\(\) )?def evaluate\(") -> Apply:
    """Functions or classes above a statement at the top level."""

    def step(files: Files, path: str) -> None:
        (place,) = find(files[path], above, "")
        files[path] = splice(files[path], place.start, place.start, [*rows(text, ""), "", ""])

    return at(path, step)


def create(path: str, text: str) -> Apply:
    def apply(files: Files) -> None:
        files[path] = textwrap.dedent(text).lstrip("\n")

    return apply


def append(path: str, text: str) -> Apply:
    def apply(files: Files) -> None:
        files[path] = files[path].rstrip("\n") + "\n" + textwrap.dedent(text)

    return apply


def commands(place: str) -> Apply:
    """What starts or explains train.py names it by its new path; the README and answers stay."""

    def apply(files: Files) -> None:
        for path, text in files.items():
            if not path.endswith((".py", ".md", "scaffold.toml")):
                files[path] = re.sub(r"(?<![\w./-])train\.py(?![\w/-])", place, text)

    return apply


def remove(path: str) -> Apply:
    def apply(files: Files) -> None:
        del files[path]

    return apply


def move_file(path: str, target: str) -> Apply:
    def apply(files: Files) -> None:
        files[target] = files.pop(path)

    return apply
