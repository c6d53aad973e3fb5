"""Output that several commands share."""

import array
import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping

import typer

from scaffold.merge.conflicts import Conflict
from scaffold.project.changes import Change
from scaffold.project.patch import NO_RENAMES, unified_diff

FRAMEWORKS = {  # that `scaffold eject` reads
    "lightning": "Lightning",
    "transformers": "Transformers' Trainer",
    "pytorch-accelerated": "pytorch-accelerated",
}


def is_terminal() -> bool:
    """Whether menus can be shown."""
    streams = (sys.stdin, sys.stdout)  # None if closed
    if not all(stream is not None and stream.isatty() for stream in streams):
        return False
    return os.environ.get("TERM") != "dumb"


def has_piped_input() -> bool:
    """Whether standard input is a pipe or a file with something to read, which stays unread."""
    try:
        handle = sys.stdin.fileno()
        about = os.fstat(handle)
        if stat.S_ISREG(about.st_mode):
            return about.st_size > os.lseek(handle, 0, os.SEEK_CUR)
        if sys.platform == "win32" or stat.S_ISCHR(about.st_mode):
            return False
        import fcntl
        import termios

        waiting = array.array("i", [0])  # bytes: a pipe that is open but empty must not block
        fcntl.ioctl(handle, termios.FIONREAD, waiting)
        return waiting[0] > 0
    except (AttributeError, OSError, ValueError):  # closed, or not a file
        return False


def terminal_width() -> int | None:
    """The width of the terminal. None where the output is a pipe or a file."""
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, 20)
    except (AttributeError, OSError, ValueError):
        return None


def tell_notes(notes: Collection[str]) -> None:
    """Print notes to standard error."""
    for note in notes:
        typer.echo(note, err=True)


def tell_conflicts(conflicts: Collection[Conflict]) -> Iterator[str]:
    """Where conflicts are, a line each."""
    if conflicts:
        yield f"{len(conflicts)} conflict(s) to resolve:"
    for conflict in conflicts:
        yield f"  {conflict.path}:{conflict.line}  {conflict.label}"


def tell_warnings(warnings: Collection[str]) -> Iterator[str]:
    """What the owner has to look at."""
    if warnings:
        yield f"{len(warnings)} warning(s) to look at:"
    for row in "\n".join(warnings).splitlines():
        yield f"  {printable(row)}"


def show_changes(changes: Iterable[Change], renamed_from: Mapping[str, str] = NO_RENAMES) -> None:
    """Print a patch, with color in a terminal. Ends quietly if the reader closes the pipe."""
    colour = _wants_colour()
    try:
        sys.stdout.flush()  # text that was printed before comes first
        out = sys.stdout.buffer
        for line in unified_diff(changes, renamed_from):
            shown = typer.style(line, fg=_colour(line)) if colour and _colour(line) else line
            out.write(f"{shown}\n".encode(errors="surrogateescape"))
        out.flush()
    except BrokenPipeError:
        # discards the rest of the buffer, or Python would complain at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wants_colour() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def _colour(line: str) -> str | None:
    if line.startswith(("+++ ", "--- ", "diff --git ")):
        return "white"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])


def printable(text: str) -> str:
    """The text without terminal control characters: it may come from files or other programs."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
