"""A file during a merge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scaffold.merge.diff.assemble import Assembly, Piece, choose_ours
from scaffold.merge.diff.triple import Hunk
from scaffold.merge.semantics.imports import mended
from scaffold.merge.source import style
from scaffold.merge.source.parse import parse
from scaffold.merge.source.statement import PYTHON, TEXT, TOML, Statement, write_units


@dataclass
class OpenFile:
    """A file, with everything that is known about its merge."""

    name: str  # in the render
    path: str  # in the project
    kind: str
    ending: style.Ending
    texts: tuple[str, str, str]  # base, ours, theirs with plain newlines
    layout: style.Layout | None = None
    units: tuple[list[Statement], ...] = ([], [], [])
    renames: style.Renames = field(default_factory=style.Renames)
    modules: Mapping[str, str | None] = field(default_factory=dict)  # after the update; None: goes
    doubts: dict[Hunk, str] = field(default_factory=dict)
    assembly: Assembly = field(init=False)  # set when all files are in their dialects


def kind_of(name: str) -> str:
    return {"py": PYTHON, "toml": TOML}.get(name.rpartition(".")[2], TEXT)


def open_file(name: str, path: str, base: str, own: str, new: str) -> OpenFile:
    text, ending = style.take_ending(own)
    return OpenFile(name, path, kind_of(name), ending, (base, text, new))


def broken_line(text: str) -> int | None:
    """The line at which a file stops being Python of any version. None if it is."""
    try:
        parse(text)
    except SyntaxError as error:
        return error.lineno or 1
    return None


def mended_text(file: OpenFile, pieces: Sequence[Piece]) -> str:
    """The merged text, with the owner's side of conflicts and the imports that its code needs."""
    _, own, new = file.texts
    return mended(write_units(choose_ours(pieces)), own, (new, own))


def laid_out(file: OpenFile, text: str) -> str:
    """The text formatted with black, if the owner's file is formatted that way."""
    try:
        return file.layout.wrap(text) if file.layout else text
    except ValueError:  # InvalidInput: black can't read it; the text stays as merged
        return text
