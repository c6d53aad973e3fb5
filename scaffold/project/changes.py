"""What a command would do to the files of a project, computed before anything is written."""

from collections.abc import Mapping
from dataclasses import dataclass

from scaffold.answers.catalog import Value


@dataclass(frozen=True)
class Change:
    """One file: its text is UTF-8 with `surrogateescape`, its newlines are as they are in it."""

    path: str  # inside the project, with '/' in it
    before: str | None  # None: there is no such file
    after: str | None


@dataclass(frozen=True)
class Conflict:
    """A place that a person has to decide."""

    path: str
    line: int  # of its first marker in the file as it will be written, from 1
    label: str  # the answer or the reason that caused it


@dataclass(frozen=True)
class Plan:
    """An update, or what else a command would do."""

    answers: Mapping[str, Value]
    changed: Mapping[str, tuple[Value | None, Value | None]]  # answers: before and after, by key
    changes: tuple[Change, ...]  # that of pristine.json is last
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]  # what was decided for the owner, a sentence each
