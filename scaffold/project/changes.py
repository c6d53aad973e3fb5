"""What a command would do to the files of a project, computed before anything is written."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """One file: its text is UTF-8 with `surrogateescape`, with the newlines of the file."""

    path: str  # inside the project, with '/' in it
    before: str | None  # None: the file does not exist
    after: str | None
