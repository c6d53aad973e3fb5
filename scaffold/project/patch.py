"""Changes as a patch for `git apply` and `patch -p1`.

A patch is UTF-8 text with `surrogateescape`, like the files: any content survives unchanged.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping

from scaffold.project.changes import Change

NO_NEWLINE = "\\ No newline at end of file"
_MODE = "100644"
NO_RENAMES: Mapping[str, str] = {}


def unified_diff(
    changes: Iterable[Change], renamed_from: Mapping[str, str] = NO_RENAMES
) -> Iterator[str]:
    """The lines of a patch without their "\\n". A change that changes nothing has none.

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
    """The header lines that are not about a file's content."""
    if change.before is None:
        yield f"new file mode {_MODE}"
    elif change.after is None:
        yield f"deleted file mode {_MODE}"
        if not change.before:
            yield "index e69de29..0000000"  # without it, patch does not delete empty files
    elif old != change.path:
        yield f"rename from {_quote(old)}"
        yield f"rename to {_quote(change.path)}"


def _hunks(change: Change, old: str) -> Iterator[str]:
    before, after = _lines(change.before or ""), _lines(change.after or "")
    # without its two header lines: difflib does not quote names
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
    """The path as a patch shows it: names with a space need quotes."""
    if path.isprintable() and not set(path) & set(' "\\'):
        return path
    special = {'"': '\\"', "\\": "\\\\"}
    quoted = (special.get(sign) or (sign if sign.isprintable() else _octal(sign)) for sign in path)
    return f'"{"".join(quoted)}"'


def _octal(sign: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in sign.encode(errors="surrogateescape"))
