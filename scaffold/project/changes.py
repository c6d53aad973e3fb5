"""What a command would do to the files of a project, computed before anything is written."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """One file: its text is UTF-8 with `surrogateescape`, its newlines are as they are in it."""

    path: str  # inside the project, with '/' in it
    before: str | None  # None: there is no such file
    after: str | None
