"""`scaffold diff`: changes as a patch, which `git apply` and `patch -p1` take.

A patch is text of UTF-8 with `surrogateescape`, as the files are: written as bytes, any content
comes out as it went in.
"""

import difflib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import typer

from scaffold.project.changes import Change
from scaffold.project.moves import follow_moves
from scaffold.project.pristine import Pristine, read_pristine
from scaffold.project.read import read_text

NO_NEWLINE = "\\ No newline at end of file"
_MODE = "100644"
_NO_RENAMES: Mapping[str, str] = {}


def show_own_changes(folder: Path) -> None:
    """Print what the owner changed since the last render. Raises ScaffoldError."""
    pristine = follow_moves(folder, read_pristine(folder))
    show_changes(own_changes(folder, pristine), renames(pristine))


def own_changes(folder: Path, pristine: Pristine) -> list[Change]:
    """What the owner changed in the files of the render: `before` is the rendered text.

    A file that was moved has a change at its new place, also where its text is the same; `renames`
    tells where it was. Raises ScaffoldError for a file that is there and can't be read.
    """
    changes = []
    for name, before in pristine.files.items():
        place = pristine.place(name)
        after = read_text(folder, place)
        if after is None:
            changes.append(Change(name, before, None))  # at the place it would be deleted from
        elif after != before or place != name:
            changes.append(Change(place, before, after))
    return changes


def renames(pristine: Pristine) -> dict[str, str]:
    """Where a file was rendered, by where its owner has moved it."""
    return {place: name for name, place in pristine.moved.items() if place != name}


def show_changes(changes: Iterable[Change], renamed_from: Mapping[str, str] = _NO_RENAMES) -> None:
    """Print a patch, with colour in a terminal. Ends quietly if nobody reads on."""
    colour = _wants_colour()
    try:
        sys.stdout.flush()  # what was printed as text comes first
        out = sys.stdout.buffer
        for line in unified_diff(changes, renamed_from):
            shown = typer.style(line, fg=_colour(line)) if colour and _colour(line) else line
            out.write(f"{shown}\n".encode(errors="surrogateescape"))
        out.flush()
    except BrokenPipeError:
        # what is left in the buffer goes nowhere, or Python would complain when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def unified_diff(
    changes: Iterable[Change], renamed_from: Mapping[str, str] = _NO_RENAMES
) -> Iterator[str]:
    """The lines of a patch without the "\\n" at their end. A change that changes nothing has none.

    `renamed_from` has the old path of each file that was moved, by its path in `changes`.
    """
    for change in changes:
        old = renamed_from.get(change.path, change.path)
        if change.before is None or change.after is None:
            old = change.path
        if change.before != change.after or old != change.path:
            yield f"diff --git {_quote(f'a/{old}')} {_quote(f'b/{change.path}')}"
            yield from _about(change, old)
            yield from _hunks(change, old)


def _about(change: Change, old: str) -> Iterator[str]:
    """What the lines of a file don't say."""
    if change.before is None:
        yield f"new file mode {_MODE}"
    elif change.after is None:
        yield f"deleted file mode {_MODE}"
        if not change.before:
            yield "index e69de29..0000000"  # patch deletes no empty file without
    elif old != change.path:
        yield f"rename from {_quote(old)}"
        yield f"rename to {_quote(change.path)}"


def _hunks(change: Change, old: str) -> Iterator[str]:
    before, after = _lines(change.before or ""), _lines(change.after or "")
    # without the two lines of its head: difflib does not know what needs quotes
    lines = difflib.unified_diff(before, after, lineterm="")
    if next(lines, None) is None:
        return
    next(lines)
    yield f"--- {_quote(f'a/{old}') if change.before is not None else '/dev/null'}"
    yield f"+++ {_quote(f'b/{change.path}') if change.after is not None else '/dev/null'}"
    for line in lines:
        if line.startswith("@@"):
            yield line
        elif line.endswith("\n"):
            yield line[:-1]
        else:
            yield line
            yield NO_NEWLINE


def _lines(text: str) -> list[str]:
    """The lines with the "\\n" at their end: unlike for `splitlines`, nothing else ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _quote(path: str) -> str:
    """The path as it stands in a patch: where a name has a space, patch finds its end by quotes."""
    if path.isprintable() and not set(path) & set(' "\\'):
        return path
    special = {'"': '\\"', "\\": "\\\\"}
    quoted = (special.get(sign) or (sign if sign.isprintable() else _octal(sign)) for sign in path)
    return f'"{"".join(quoted)}"'


def _octal(sign: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in sign.encode(errors="surrogateescape"))


def _wants_colour() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def _colour(line: str) -> str | None:
    if line.startswith(("+++ ", "--- ", "diff --git ")):
        return "white"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
