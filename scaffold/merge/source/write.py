"""Writes the merged text, with conflicts between markers."""

from collections.abc import Callable, Sequence

from scaffold.merge.conflicts import frame
from scaffold.merge.diff.assemble import Clash, Piece
from scaffold.merge.diff.triple import Region
from scaffold.merge.source.statement import Unit


def choose_mine(pieces: Sequence[Piece]) -> list[Unit]:
    """The merged units, with the owner's side of each conflict."""
    return choose(pieces, lambda clash: clash.mine)


def choose(pieces: Sequence[Piece], side: Callable[[Clash], Sequence[Unit]]) -> list[Unit]:
    """The merged units, with one side of each conflict."""
    units: list[Unit] = []
    for piece in pieces:
        units += side(piece) if isinstance(piece, Clash) else [piece]
    return units


def write_units(units: Sequence[Unit]) -> str:
    rows: list[str] = []
    for unit in units:
        rows += [""] * unit.blanks + list(unit.lines)
    return "".join(f"{row}\n" for row in rows)


def write_pieces(
    pieces: Sequence[Piece], name_cause: Callable[[str, Region], str]
) -> tuple[str, list[tuple[int, str]]]:
    """The text with its conflicts, and the line and the cause of each.

    `name_cause` returns the cause of a conflict about these lines, in this region.
    """
    rows: list[str] = []
    conflicts = []
    for piece in pieces:
        if isinstance(piece, Unit):
            rows += [""] * piece.blanks + list(piece.lines)
            continue
        mine, base, theirs = (_rows(side) for side in (piece.mine, piece.base, piece.theirs))
        rows += [""] * (piece.mine or piece.theirs)[0].blanks
        cause = name_cause("\n".join(theirs or base), piece.region)
        conflicts.append((len(rows) + 1, cause))
        rows += frame(mine, base, theirs, cause)
    return "".join(f"{row}\n" for row in rows), conflicts


def _rows(units: Sequence[Unit]) -> list[str]:
    return write_units(units).strip("\n").split("\n") if units else []
