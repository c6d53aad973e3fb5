"""Merges two edited versions of one text, unit by unit.

Each side keeps, changes or deletes each unit of the base, and may fill the gaps between units. What
only one side did is done. What both did is done if they agree, or if it can be combined
(`expression.py`, `commute.py`); everything else is a conflict (`hunks.py`).
"""

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from scaffold.merge.conflicts import frame
from scaffold.merge.diff.deletions import (
    goes_with_deleted,
    is_written_by_hand,
    stays_deleted,
)
from scaffold.merge.diff.depth import depth_change, depth_change_of_region, in_same_block
from scaffold.merge.diff.hunks import find_clashes, merge_pair, work_on_given
from scaffold.merge.diff.mapping import Side, align
from scaffold.merge.diff.triple import Region, Three, contains
from scaffold.merge.source.statement import PYTHON, TEXT, Unit, split_lines
from scaffold.merge.source.write import write_units


@dataclass(frozen=True)
class Clash:
    """A conflict in the file that the owner has to resolve."""

    mine: tuple[Unit, ...]
    base: tuple[Unit, ...]
    theirs: tuple[Unit, ...]
    region: Region


Piece = Unit | Clash


@dataclass
class Weave(Three):
    """Three texts, put together."""

    indent: str  # of the owner's file

    def merge(self, doubtful: Collection[Region] = ()) -> list[Piece]:
        """The merged units and the conflicts between them.

        `doubtful` are regions that merge as text but would break the code.
        """
        regions = find_clashes(self, doubtful)
        pieces: list[Piece] = []
        number = 0
        for start, end in regions:
            pieces += self._plain(number, start)
            pieces += self._clash(start, end)
            number = end
            if end > start:
                # the gap after the region is not part of it
                continue
            pieces += self._unit(number)
            number += 1
        pieces += self._plain(number, len(self.base) + 1)
        pieces = self._close_up(pieces)
        return [
            piece for piece in pieces if not isinstance(piece, Clash) or piece.mine or piece.theirs
        ]

    def _close_up(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Remove blank lines after the head of a block that neither side has."""
        known = {
            (one.key, two.key)
            for side in (self.mine, self.theirs)
            for one, two in itertools.pairwise(side.units)
        }
        out: list[Piece] = []
        for piece in pieces:
            if isinstance(piece, Unit) and piece.blanks and out and isinstance(out[-1], Unit):
                opens = out[-1].depth < piece.depth
                if opens and (out[-1].key, piece.key) not in known:
                    piece = replace(piece, blanks=0)
            out.append(piece)
        return out

    # output

    def _plain(self, start: int, end: int) -> list[Piece]:
        """The units of a range of the base, with the gaps before them."""
        pieces: list[Piece] = []
        for number in range(start, end):
            pieces += self._gap(number)
            pieces += self._unit(number)
        return pieces

    def _unit(self, number: int) -> list[Piece]:
        if number >= len(self.base):
            return []
        unit, mine, theirs = self.base[number], self.mine.of(number), self.theirs.of(number)
        if mine is None or theirs is None:
            return []
        depth = mine.depth + theirs.depth - unit.depth
        if mine.depth == theirs.depth and in_same_block(self, number):
            depth = mine.depth
        # blank lines separate two units: a new one above has its own distance
        own = bool(self.mine.inserts[number]) or mine.blanks != unit.blanks
        blanks = mine.blanks if own else theirs.blanks
        if unit.same == theirs.same:
            # reformatted by neither the owner nor the merge: as generated
            merged = theirs if mine.same == unit.same and mine.flat == unit.flat else mine
        elif unit.same == mine.same or mine.same == theirs.same:
            merged = mine if mine.same == theirs.same else theirs
        else:
            merged = merge_pair(self, unit, mine, theirs) or mine
        return [replace(self._place(merged, depth), blanks=blanks, origin=f"b{number}")]

    def _gap(self, gap: int) -> list[Piece]:
        mine = [self._move(self.mine, self.theirs, place, gap) for place in self.mine.inserts[gap]]
        places = self.theirs.inserts[gap]
        theirs = [self._move(self.theirs, self.mine, place, gap) for place in places]
        if theirs and (contains(mine, theirs) or goes_with_deleted(self, gap)):
            return [*mine]
        if mine and contains(theirs, mine):
            return [*theirs]
        theirs = [
            unit
            for place, unit in zip(places, theirs, strict=True)
            if not is_written_by_hand(self, place, gap) and not stays_deleted(self, place)
        ]
        if not mine or not theirs:
            return [*mine, *theirs]
        if theirs[0].depth == mine[0].depth and work_on_given(self, gap, mine, theirs):
            return [*mine, *theirs]
        # what continues the block above comes first, what opens one for the next unit comes last
        if self.stands_for_next(gap, mine) or self.goes_with_next(gap):
            return [*theirs, *mine]
        inside = mine[0].blanks and self.opens_for_next(self.theirs, gap)
        last = self.opens_for_next(self.mine, gap)
        if last and min(unit.depth for unit in theirs) > mine[-1].depth:
            return [*mine, *theirs]  # into the owner's block, with what needs them
        if inside or last or theirs[0].depth > mine[0].depth:
            return [*theirs, *mine]
        return [*mine, *theirs]

    def _move(self, one: Side, other: Side, place: int, gap: int) -> Unit:
        """A new unit of one side, at the depth that the other side gave its surroundings."""
        unit = one.units[place]
        moved = self._place(unit, unit.depth + depth_change(self, one, other, place, gap))
        return replace(moved, origin=self.origin(one, place))

    def _place(self, unit: Unit, depth: int) -> Unit:
        in_place = unit.depth == depth and indent_fits(unit, self.indent)
        if self.kind != PYTHON or in_place:
            return replace(unit, depth=depth)
        return unit.at(depth, self.indent)

    def _clash(self, start: int, end: int) -> list[Piece]:
        mine = self._span(self.mine, self.theirs, start, end)
        theirs = self._span(self.theirs, self.mine, start, end)
        base = list(self.base[start:end])
        before: list[Piece] = []
        after: list[Piece] = []
        while mine and theirs and _equal(mine[0], theirs[0]):
            before.append(mine.pop(0))
            theirs.pop(0)
            if base and base[0].same == before[-1].same:  # type: ignore[union-attr]
                base.pop(0)
        while mine and theirs and _equal(mine[-1], theirs[-1]):
            after.insert(0, mine.pop())
            theirs.pop()
            if base and base[-1].same == after[0].same:  # type: ignore[union-attr]
                base.pop()
        return [*before, Clash(tuple(mine), tuple(base), tuple(theirs), (start, end)), *after]

    def _span(self, one: Side, other: Side, start: int, end: int) -> list[Unit]:
        """One side's units in a region, at the depth that the other side gave its surroundings."""
        places = [*one.inserts[start]]
        for number in range(start, end):
            place = one.match[number] if number < len(self.base) else None
            places += [] if place is None else [place]
            places += one.inserts[number + 1] if number + 1 < end else []
        change = depth_change_of_region(self, other, start, end)
        return [
            replace(
                self._place(one.units[place], one.units[place].depth + change),
                origin=self.origin(one, place),
            )
            for place in places
        ]


def _equal(one: Unit, two: Unit) -> bool:
    return (one.same, one.depth) == (two.same, two.depth)


def indent_fits(unit: Unit, indent: str) -> bool:
    """Whether a unit is indented in the owner's way."""
    return unit.lines[0].startswith(indent * unit.depth) and not unit.lines[0].startswith(
        (indent * unit.depth + " ", indent * unit.depth + "\t")
    )


def weave(
    base: Sequence[Unit],
    mine: Sequence[Unit],
    theirs: Sequence[Unit],
    kind: str,
    *,
    indent: str = "    ",
    union: bool = False,
) -> Weave:
    return Weave(base, align(base, mine), align(base, theirs), kind, merge_lines, union, indent)


def merge_lines(base: str, mine: str, theirs: str) -> str | None:
    """The text merged line by line. None if there is a conflict, or if it has only one line."""
    texts = [split_lines(text) for text in (base, mine, theirs)]
    if max(map(len, texts)) < 2:
        return None
    rows: list[str] = []
    for piece in weave(texts[0], texts[1], texts[2], TEXT).merge():
        if isinstance(piece, Clash):
            return None
        rows += [""] * piece.blanks + list(piece.lines)
    return "\n".join(rows)


# what is written


def choose_mine(pieces: Sequence[Piece]) -> list[Unit]:
    """The merged units, with the owner's side of each conflict."""
    return choose(pieces, lambda clash: clash.mine)


def choose(pieces: Sequence[Piece], side: Callable[[Clash], Sequence[Unit]]) -> list[Unit]:
    """The merged units, with one side of each conflict."""
    units: list[Unit] = []
    for piece in pieces:
        units += side(piece) if isinstance(piece, Clash) else [piece]
    return units


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
