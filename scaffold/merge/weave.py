"""Merges two edited versions of one text, unit by unit.

Each unit of the base was kept, changed or deleted by either side, and each gap between two of
them was filled by either side. What only one side did is done. What both did is done where they
agree, or where the two can be put together (`statement.py`, `commute.py`); everything else is a
conflict, which covers what hangs together: a whole deleted stretch, for example.
"""

import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from scaffold.merge.align import Side, align, role
from scaffold.merge.commute import can_commute, same_purpose
from scaffold.merge.statement import merge_unit
from scaffold.merge.units import PYTHON, TOML, Unit

_IMPORT = re.compile(r"\s*(import|from)\b")

Region = tuple[int, int]  # units of the base from, to; a gap alone where both are the same


@dataclass(frozen=True)
class Clash:
    """What stands in the file where a person must decide."""

    mine: tuple[Unit, ...]
    base: tuple[Unit, ...]
    theirs: tuple[Unit, ...]
    region: Region


Piece = Unit | Clash


@dataclass
class Weave:
    """Three texts, aligned."""

    base: Sequence[Unit]
    mine: Side
    theirs: Side
    kind: str
    indent: str  # of the owner's file
    union: bool  # whether lines of text that both sides insert at one spot may stand together

    def merge(self, doubtful: Collection[Region] = ()) -> list[Piece]:
        """The merged units and the conflicts between them.

        `doubtful` are regions where the sides do not fit although their text does.
        """
        regions = self.regions(doubtful)
        pieces: list[Piece] = []
        number = 0
        for start, end in regions:
            pieces += self._plain(number, start)
            pieces += self._clash(start, end)
            number = end
            if end > start:
                # the gap behind the region is not part of it
                continue
            pieces += self._unit(number)
            number += 1
        pieces += self._plain(number, len(self.base) + 1)
        pieces = self._close_up(pieces)
        return [
            piece for piece in pieces if not isinstance(piece, Clash) or piece.mine or piece.theirs
        ]

    def _close_up(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Without blank lines behind the head of a block that neither side has there."""
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

    def regions(self, doubtful: Collection[Region] = ()) -> list[Region]:
        """Where a person must decide."""
        regions = _join([*self._find_clashes(), *doubtful])
        while True:
            whole = _join([self._whole_blocks(region) for region in regions])
            if whole == regions:
                return regions
            regions = whole

    def _whole_blocks(self, region: Region) -> Region:
        """A region that goes on to the end of all blocks that one side opens or drops in it."""
        start, end = region
        last = end
        for number in range(start, end):
            if None in (self.mine.match[number], self.theirs.match[number]):
                level = self.base[number].depth
                after = number + 1
                while after < len(self.base) and (
                    self.base[after].depth > level or self.base[after].is_comment
                ):
                    after += 1
                last = max(last, after if after > number + 1 else last)
        for side in (self.mine, self.theirs):
            for gap in range(start, max(end, start + 1)):
                for place in side.inserts[gap]:
                    after = place + 1
                    while after < len(side.units) and (
                        side.units[after].depth > side.units[place].depth
                    ):
                        last = max(last, side.number_of.get(after, -1) + 1)
                        after += 1
        return start, last

    def misplaced(self, pieces: Sequence[Piece]) -> list[int]:
        """Where units are in other blocks than their sides have put them, by number in the base."""
        found = []
        dropped = self._dropped(pieces)
        blocks: list[tuple[int, str]] = []  # around what comes next
        last = 0
        for piece in pieces:
            if isinstance(piece, Clash):
                return []
            if piece.is_comment:
                continue
            while blocks and blocks[-1][0] >= piece.depth:
                blocks.pop()
            around = {head for _, head in blocks}
            mark, place = piece.origin[0], int(piece.origin[1:])
            if mark == "b":
                last = place
                wanted = self._heads("m", self.mine.match[place])
                wanted |= self._heads("t", self.theirs.match[place])
                fits = wanted - dropped == around
            else:  # the other side may have put a new block around it
                wanted = self._heads(mark, place) - dropped
                fits = wanted <= around and not any(
                    head[0] in "b" + mark for head in around - wanted
                )
            if not fits:
                found.append(last)
            blocks.append((piece.depth, piece.origin))
        return found

    def _dropped(self, pieces: Sequence[Piece]) -> set[str]:
        """What is in one of the sides and not in the merge."""
        there = {piece.origin for piece in pieces if isinstance(piece, Unit)}
        every = {f"b{number}" for number in range(len(self.base))}
        every |= {f"m{number}" for number in range(len(self.mine.units))}
        every |= {f"t{number}" for number in range(len(self.theirs.units))}
        return every - there

    def _heads(self, mark: str, place: int | None) -> set[str]:
        """The origins of the heads of the blocks around a unit, in one side."""
        side = self.mine if mark == "m" else self.theirs
        heads = set()
        while place is not None and (place := parent(side.units, place)) is not None:
            known = side.number_of.get(place)
            heads.add(f"{mark}{place}" if known is None else f"b{known}")
        return heads

    def their_changes(self) -> list[Region]:
        """The regions in which the other side differs from the base."""
        found: list[Region] = []
        for number in range(len(self.base) + 1):
            if self.theirs.inserts[number]:
                found.append((number, number))
            if number < len(self.base):
                unit = self.theirs.of(number)
                old = self.base[number]
                if unit is None or (unit.same, unit.depth) != (old.same, old.depth):
                    found.append((number, number + 1))
        return _join(found, touching=True)

    # conflicts

    def _find_clashes(self) -> list[Region]:
        found: list[Region] = []
        for number, unit in enumerate(self.base):
            mine, theirs = self.mine.of(number), self.theirs.of(number)
            if mine is None and theirs is not None and theirs.same != unit.same:
                found.append(self._deleted_run(self.mine, number))
            elif theirs is None and mine is not None and mine.same != unit.same:
                found.append(self._deleted_run(self.theirs, number))
            elif mine and theirs and not self._go_together(unit, mine, theirs):
                found.append((number, number + 1))
        for gap in range(len(self.base) + 1):
            if self.mine.inserts[gap] and self.theirs.inserts[gap] and not self._both_fit(gap):
                found.append((gap, gap))
            for one, other in ((self.mine, self.theirs), (self.theirs, self.mine)):
                if one.inserts[gap] and (lost := self._lost_context(one, other, gap)) is not None:
                    found.append(self._deleted_run(other, lost))
            if self.mine.inserts[gap] and self._is_replaced(self.theirs, gap):
                found.append(self._deleted_run(self.theirs, gap))
        found += self._same_purpose()
        return found

    def _go_together(self, unit: Unit, mine: Unit, theirs: Unit) -> bool:
        if unit.same in (mine.same, theirs.same):
            return True
        return self._merge_unit(unit, mine, theirs) is not None

    def _merge_unit(self, base: Unit, mine: Unit, theirs: Unit) -> Unit | None:
        if mine.same == theirs.same:
            return mine
        return merge_unit(base, mine, theirs) if self.kind in (PYTHON, TOML) else None

    def _deleted_run(self, side: Side, number: int) -> Region:
        """The stretch around a unit that this side deleted and that hangs together with it."""
        if self.kind != PYTHON or self._stands_alone(number):
            return number, number + 1
        start, end = number, number + 1
        while start > 0 and side.match[start - 1] is None and not self._ends_before(start):
            start -= 1
        while end < len(self.base) and side.match[end] is None and not self._ends_before(end):
            end += 1
        return start, end

    def _stands_alone(self, number: int) -> bool:
        """Whether a unit is a field or a statement at the top of a file."""
        unit = self.base[number]
        if unit.is_comment or unit.text.rstrip().endswith(":"):
            return False
        head = parent(self.base, number)
        text = "" if head is None else self.base[head].text.lstrip()
        return (unit.depth == 0 and not text) or text.startswith("class ")

    def _ends_before(self, number: int) -> bool:
        """Whether a definition at the top of a file ends in front of a unit."""
        unit, before = self.base[number], self.base[number - 1]
        if unit.depth > 0:
            return False
        return not before.is_comment and not before.text.startswith("@")

    def _is_replaced(self, side: Side, gap: int) -> bool:
        """Whether this side wrote something else in place of the units on both sides of a gap."""
        if not 0 < gap < len(self.base) or side.match[gap - 1] is not None:
            return False
        if side.match[gap] is not None:
            return False
        start, end = self._deleted_run(side, gap)
        return any(side.inserts[place] for place in range(start, end))

    def _both_fit(self, gap: int) -> bool:
        mine = [self.mine.units[place] for place in self.mine.inserts[gap]]
        theirs = [self.theirs.units[place] for place in self.theirs.inserts[gap]]
        if _contains(mine, theirs) or _contains(theirs, mine):
            return True
        if self.kind != PYTHON:
            purposes = [{role(unit) for unit in units} - {()} for units in (mine, theirs)]
            return self.union and not purposes[0] & purposes[1]
        levels = [min(unit.depth for unit in units) for units in (mine, theirs)]
        if levels[0] != levels[1]:
            return True  # the deeper goes on with the block above, the other stands behind it
        return can_commute(mine, theirs, self._modules())

    def _modules(self) -> set[str]:
        """Imported names."""
        rows = (*self.base, *self.mine.units, *self.theirs.units)
        found = [
            re.sub(r".*\bimport\b", "", unit.text) for unit in rows if _IMPORT.match(unit.text)
        ]
        return {name for text in found for name in re.findall(r"\w+", text)}

    def _lost_context(self, one: Side, other: Side, gap: int) -> int | None:
        """The base unit that the other side deleted, if new units have nothing left around them."""
        number_of = one.number_of
        first = min(one.inserts[gap], key=lambda place: one.units[place].depth)
        depth = one.units[first].depth
        head = parent(one.units, first)
        if head is not None and head not in number_of:
            return None  # in a block that is new itself
        near: list[int] = []  # what stands above and below it in its block, the nearest first
        for places in (range(first - 1, -1, -1), range(first + 1, len(one.units))):
            found: list[int] = []
            for place in places:
                unit = one.units[place]
                if unit.depth < depth and not unit.is_comment:
                    break
                if unit.depth == depth and place in number_of:
                    found.append(number_of[place])
            near += found if one is self.mine else found[:1]
        if not near and head is not None:
            near.append(number_of[head])
        if not near or any(other.match[number] is not None for number in near):
            return None
        if one is self.mine and depth == 0:
            return None
        return near[0]

    def _same_purpose(self) -> list[Region]:
        """Gaps in which the other side adds what the owner already wrote elsewhere, otherwise."""
        known = self.base
        own = [self.mine.units[place] for gap in self.mine.inserts for place in gap]
        return [
            (gap, gap)
            for gap, places in enumerate(self.theirs.inserts)
            for place in places
            if same_purpose(self.theirs.units[place], own, known)
        ]

    # what comes out

    def _plain(self, start: int, end: int) -> list[Piece]:
        """The units from one of the base to another, with the gaps in front of them."""
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
        if mine.depth == theirs.depth and self._same_block(number):
            depth = mine.depth
        # blank lines stand between two units: a new one above has its own distance
        own = bool(self.mine.inserts[number]) or mine.blanks != unit.blanks
        blanks = mine.blanks if own else theirs.blanks
        if unit.same == theirs.same:
            # laid out anew by neither the owner nor the merge: as the generator has it
            merged = theirs if mine.same == unit.same and mine.flat == unit.flat else mine
        elif unit.same == mine.same or mine.same == theirs.same:
            merged = mine if mine.same == theirs.same else theirs
        else:
            merged = self._merge_unit(unit, mine, theirs) or mine
        return [replace(self._place(merged, depth), blanks=blanks, origin=f"b{number}")]

    def _same_block(self, number: int) -> bool:
        """Whether both sides put a unit into the same new blocks, or neither into one."""
        heads = []
        for side in (self.mine, self.theirs):
            new: list[str] = []
            place = side.match[number]
            while place is not None and (place := parent(side.units, place)) is not None:
                if place not in side.number_of:
                    new.append(side.units[place].key)
            heads.append(new)
        return heads[0] == heads[1]

    def _gap(self, gap: int) -> list[Piece]:
        mine = [self._move(self.mine, self.theirs, place, gap) for place in self.mine.inserts[gap]]
        theirs = [
            self._move(self.theirs, self.mine, place, gap)
            for place in self.theirs.inserts[gap]
            if not self._already_there(place, gap)
        ]
        if not mine or not theirs:
            return [*mine, *theirs]
        if _contains(mine, theirs):
            return [*mine]
        if _contains(theirs, mine):
            return [*theirs]
        # what goes on with the block above stands first, what opens one for the next unit last
        inside = mine[0].blanks and self._opens_for_next(self.theirs, gap)
        last = self._opens_for_next(self.mine, gap)
        if inside or last or theirs[0].depth > mine[0].depth:
            return [*theirs, *mine]
        return [*mine, *theirs]

    def _opens_for_next(self, side: Side, gap: int) -> bool:
        """Whether new lines end with the head of a block around the next unit."""
        after = side.of(gap) if gap < len(self.base) else None
        places = side.inserts[gap]
        return bool(places) and after is not None and after.depth > side.units[places[-1]].depth

    def _already_there(self, place: int, gap: int) -> bool:
        """Whether the owner wrote the same statement into the same block by hand."""
        unit = self.theirs.units[place]
        level = min(self.theirs.units[other].depth for other in self.theirs.inserts[gap])
        if unit.depth != level or len(role(unit)) < 2:
            return False
        same = (unit.scope, unit.key)
        if unit.text.rstrip().endswith(":") or any(
            (row.scope, row.key) == same for row in self.base
        ):
            return False
        own = (self.mine.units[place] for places in self.mine.inserts for place in places)
        return any((row.scope, row.key, row.depth) == (*same, unit.depth) for row in own)

    def _move(self, one: Side, other: Side, place: int, gap: int) -> Unit:
        """A new unit of one side, as deep as the other side has put what is around it."""
        unit = one.units[place]
        moved = self._place(unit, unit.depth + self._depth_change(one, other, place, gap))
        return replace(moved, origin=f"{'m' if one is self.mine else 't'}{place}")

    def _depth_change(self, one: Side, other: Side, place: int, gap: int) -> int:
        replaced = other.of(gap) if gap < len(self.base) and one.match[gap] is None else None
        if replaced is not None:
            return replaced.depth - self.base[gap].depth
        places = one.inserts[gap]
        level = min(one.units[other_place].depth for other_place in places)
        best: tuple[int, int, int] | None = None
        after = one.of(gap) if gap < len(self.base) else None
        # a blank line above, and none below: it belongs to what follows
        to_next = after is not None and one.units[places[0]].blanks > 0 and not after.blanks
        if self._opens_for_next(one, gap):  # where both do, the owner's block is the inner one
            to_next = one is self.mine or not self._opens_for_next(self.mine, gap)
        for number, rank in ((gap - 1, int(to_next)), (gap, int(not to_next))):
            if not 0 <= number < len(self.base):
                continue
            near, there = one.of(number), other.of(number)
            if near is None or there is None:
                continue
            score = (abs(near.depth - level), rank, there.depth - self.base[number].depth)
            best = min(best, score) if best else score
        return best[2] if best else 0

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
        """The units of one side in a region, as deep as the other side has what is around it."""
        places = [*one.inserts[start]]
        for number in range(start, end):
            place = one.match[number]
            places += [] if place is None else [place]
            places += one.inserts[number + 1] if number + 1 < end else []
        change = self._change_around(other, start, end)
        return [self._place(one.units[place], one.units[place].depth + change) for place in places]

    def _change_around(self, side: Side, start: int, end: int) -> int:
        """How much deeper a side has a region, apart from the blocks it opens or drops in it."""
        opened = {place for gap in range(start, end) for place in side.inserts[gap]}
        for number in range(start, end):
            place: int | None = side.match[number]
            if place is None:
                continue
            change = side.units[place].depth - self.base[number].depth
            while place is not None:
                place = parent(side.units, place)
                change -= place in opened
            head = parent(self.base, number)
            while head is not None and head >= start:
                change += side.match[head] is None
                head = parent(self.base, head)
            return change
        head = parent(self.base, start) if start < len(self.base) else None
        around = None if head is None else side.of(head)
        return 0 if around is None or head is None else around.depth - self.base[head].depth


def _equal(one: Unit, two: Unit) -> bool:
    return (one.same, one.depth) == (two.same, two.depth)


def parent(units: Sequence[Unit], place: int) -> int | None:
    """The head of the block that a unit is in."""
    for before in range(place - 1, -1, -1):
        if units[before].depth < units[place].depth and not units[before].is_comment:
            return before
    return None


def indent_fits(unit: Unit, indent: str) -> bool:
    """Whether a unit is indented as its owner indents."""
    return unit.lines[0].startswith(indent * unit.depth) and not unit.lines[0].startswith(
        (indent * unit.depth + " ", indent * unit.depth + "\t")
    )


def _contains(units: Sequence[Unit], others: Sequence[Unit]) -> bool:
    """Whether the others are all there, in their order."""
    rest = iter(unit.key for unit in units)
    return all(other.key in rest for other in others)


def _join(regions: Collection[Region], touching: bool = False) -> list[Region]:
    """The regions in order, those that overlap made one, and those that touch if that is wanted."""
    joined: list[Region] = []
    for start, end in sorted(set(regions)):
        if joined and (start < joined[-1][1] + touching or start == joined[-1][0]):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def weave(
    base: Sequence[Unit],
    mine: Sequence[Unit],
    theirs: Sequence[Unit],
    kind: str,
    *,
    indent: str = "    ",
    union: bool = False,
) -> Weave:
    return Weave(base, align(base, mine), align(base, theirs), kind, indent, union)
