"""Merges two edited versions of one text, unit by unit.

Each side keeps, changes or deletes each unit of the base, and may fill the gaps between units. What
only one side did is done. What both did is done if they agree, or if it can be combined
(`expression.py`, `commute.py`); everything else is a conflict (`hunks.py`).
"""

import ast
import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from scaffold.merge.conflicts import SHORTENED, frame
from scaffold.merge.diff.commute import (
    can_commute,
    get_given_again,
    same_purpose,
    work_on_given,
)
from scaffold.merge.diff.deletions import (
    emptied,
    moved_and_changed,
    moved_and_gone,
    moved_comments,
    new_packages,
    outdated,
    without_known,
)
from scaffold.merge.diff.depth import depth_change, depth_change_of_hunk, in_same_block
from scaffold.merge.diff.excerpt import shorten
from scaffold.merge.diff.hunks import (
    by_level,
    find_clashes,
    leaves_at_end,
    leaves_first,
    leaves_last,
    merge_pair,
    place_for_next,
    whole_hunks,
)
from scaffold.merge.diff.leaving import adds_to_what_goes, shows_alone, split_users
from scaffold.merge.diff.mapping import Side, align
from scaffold.merge.diff.moved_blocks import follow_moved_blocks, follow_output
from scaffold.merge.diff.named_parts import follow_named_parts
from scaffold.merge.diff.triple import Hunk, Triple, contains
from scaffold.merge.semantics.effects import effects_of, only_shows
from scaffold.merge.semantics.flow import bound_in
from scaffold.merge.source.imports import import_node, imports_of, is_standard
from scaffold.merge.source.statement import (
    PYTHON,
    TEXT,
    Statement,
    Statements,
    block_of,
    write_units,
)
from scaffold.merge.source.training import limits_gradients, prepares, waits_for_parts


@dataclass(frozen=True)
class Clash:
    """A conflict in the file that the owner has to resolve."""

    ours: tuple[Statement, ...]
    base: tuple[Statement, ...]
    theirs: tuple[Statement, ...]
    hunk: Hunk
    is_alone: bool = False  # no other line needs the owner's side


Piece = Statement | Clash

# what base and ours get of the other side's form
FOLLOWED = (follow_moved_blocks, follow_named_parts, follow_output)


@dataclass
class Assembly(Triple):
    indent: str  # of the owner's file
    gone: Collection[int] = ()  # the owner's new units that are deleted, because they were moved
    needed: set[str] = field(default_factory=set)  # imports that stay, for the owner's side
    leaving: set[str] = field(default_factory=set)  # names that go, also from the owner's lines
    dropped: set[str] = field(default_factory=set)  # lists that go with what the owner added

    _merged: dict[object, list[Piece]] = field(default_factory=dict, init=False)

    @cached_property
    def _certain(self) -> list[Hunk]:
        return find_clashes(self)

    def clashes(self, doubtful: Collection[Hunk]) -> list[Hunk]:
        """The regions that the owner has to decide."""
        return whole_hunks(self, [*self._certain, *doubtful])

    def merge(self, doubtful: Collection[Hunk] = ()) -> list[Piece]:
        """The merged units and the conflicts between them.

        `doubtful` are regions that merge as text but would break the code.
        """
        known = frozenset(doubtful), frozenset(self.needed), frozenset(self.leaving)
        if known not in self._merged:
            self._merged[known] = self._merge(doubtful)
        return self._merged[known]

    def _merge(self, doubtful: Collection[Hunk]) -> list[Piece]:
        pieces: list[Piece] = []
        number = 0
        for start, end in self.clashes(doubtful):
            pieces += self._plain(number, start)
            pieces += self._clash(start, end)
            number = end
            if end == start:  # the gap after a longer region is not part of it
                pieces += self._unit(number)
                number += 1
        pieces += self._plain(number, len(self.base) + 1)
        pieces = _close_up(self, _imports_first(pieces))
        return [
            piece for piece in pieces if not isinstance(piece, Clash) or piece.ours or piece.theirs
        ]

    def _plain(self, start: int, end: int) -> list[Piece]:
        """The units of a range of the base, with the gaps before them."""
        pieces: list[Piece] = []
        for number in range(start, end):
            pieces += self._gap(number)
            pieces += self._unit(number)
        return pieces

    def _unit(self, number: int) -> list[Piece]:
        ours, theirs = self.ours.of(number), self.theirs.of(number)
        if ours and self.needed & {row.called for row in imports_of(ours)}:
            theirs = self.base[number]
        if ours is None or theirs is None:
            return []
        unit = self.base[number]
        depth = ours.depth + theirs.depth - unit.depth
        if ours.depth == theirs.depth and in_same_block(self, number):
            depth = ours.depth
        # blank lines separate two units: a new one above has its own distance
        places = self.theirs.inserts[number]
        own = bool(self.ours.inserts[number]) or ours.blanks != unit.blanks
        own = own and not (places and self.theirs.units[places[-1]].is_decorator)
        blanks = ours.blanks if own else theirs.blanks
        if unit.same == theirs.same:
            # reformatted by neither the owner nor the merge: as generated
            kept = theirs.lines == unit.lines or ours.same != unit.same or ours.flat != unit.flat
            merged = ours if kept else theirs
        elif unit.same == ours.same or ours.same == theirs.same:
            merged = ours if ours.same == theirs.same else theirs
        else:
            merged = merge_pair(self, unit, ours, theirs) or ours
        return [replace(self._place(merged, depth), blanks=blanks, origin=f"b{number}")]

    def _gap(self, gap: int) -> list[Piece]:
        for one, other in ((self.ours, self.theirs), (self.theirs, self.ours)):
            units, others = (side.new(gap) for side in (one, other))
            if others and contains(units, others, (0, 0)):  # both wrote them where they are
                return [self.at(one, row, one.units[row].depth) for row in one.inserts[gap]]
        ours = [
            self._move(self.ours, self.theirs, place, gap)
            for place in self.ours.inserts[gap]
            if place not in self.gone
        ]
        theirs = [
            self._move(self.theirs, self.ours, place, gap) for place in self.theirs.inserts[gap]
        ]
        if theirs and contains(ours, theirs):
            return [*ours]
        if ours and contains(theirs, ours):
            return [*theirs]
        theirs = [*without_known(self, gap, theirs)]
        if not ours or not theirs:
            return [*ours, *theirs]
        above = -self.comments_of_next(gap) or len(ours)
        if not ours[:above]:
            return [*theirs, *ours]
        found = [_in_order(self, gap, *parts) for parts in by_level(ours[:above], theirs)]
        return [*itertools.chain(*found), *ours[above:]]

    def _move(self, one: Side, other: Side, place: int, gap: int) -> Statement:
        """A new unit of one side, at the depth that the other side gave its surroundings."""
        unit = one.units[place]
        moved = self.at(one, place, unit.depth + depth_change(self, one, other, place, gap))
        number = self.followed.get(place) if one is self.ours else None
        changed = None if number is None else self.theirs.of(number)
        if changed is None:
            return moved
        changed = self._place(changed, moved.depth)
        return replace(changed, blanks=moved.blanks, scope=moved.scope, origin=moved.origin)

    def at(self, side: Side, place: int, depth: int) -> Statement:
        return replace(self._place(side.units[place], depth), origin=self.origin(side, place))

    def _place(self, unit: Statement, depth: int) -> Statement:
        is_indented = unit.margin == self.indent * unit.depth
        if self.kind == PYTHON and not (unit.depth == depth and is_indented):
            return unit.at(depth, self.indent)
        return replace(unit, depth=depth)

    def _clash(self, start: int, end: int) -> list[Piece]:
        ours = _span(self, self.ours, self.theirs, (start, end))
        theirs = _span(self, self.theirs, self.ours, (start, end))
        if start == end and (parts := _alone(self, ours, theirs, (start, end))):
            return parts
        base = list(self.base[start:end])
        is_code = self.kind == PYTHON
        places = _new_names(theirs, ours) if is_code else new_packages(self, theirs, base)
        brought = [unit for place, unit in enumerate(theirs) if place in places]
        theirs = [unit for place, unit in enumerate(theirs) if place not in places]
        first, last = _strip_common(base, ours, theirs)
        above: list[Statement] = []
        below: list[Statement] = []
        is_new = all(unit.origin.startswith("t") for unit in theirs)
        if is_new and self.kind == PYTHON and theirs:
            above, theirs, below = _of_the_question(self, ours, theirs)
        if not theirs and adds_to_what_goes(base, ours, self.leaving):
            self.dropped |= bound_in(base)
            return [*brought, *first, *(u for u in ours if u.origin.startswith("m")), *last]
        is_alone = shows_alone(ours, self.ours.units)
        clash = Clash(tuple(ours), tuple(base), tuple(theirs), (start, end), is_alone)
        return [*brought, *first, *above, clash, *below, *last]


def _alone(assembly: Assembly, ours: Statements, theirs: Statements, hunk: Hunk) -> list[Piece]:
    """The lines of a gap with a conflict for each of the owner's that no other line needs."""
    if ours and all(map(only_shows, ours)):
        return [Clash(tuple(ours), (), (), hunk, is_alone=True), *theirs]
    pieces: list[Piece] = []
    for is_alone, units in () if theirs else split_users(ours, assembly.leaving):
        pieces += [Clash(units, (), (), hunk, is_alone=True)] if is_alone else units
    return pieces


def _span(assembly: Assembly, one: Side, other: Side, hunk: Hunk) -> list[Statement]:
    """One side's units in a region, at the depth that the other side gave its surroundings."""
    start, end = hunk
    places = [*one.inserts[start]]
    for number in range(start, end):
        place = one.match[number] if number < len(assembly.base) else None
        places += [] if place is None else [place]
        places += one.inserts[number + 1] if number + 1 < end else []
    change = depth_change_of_hunk(assembly, other, start, end)
    return [assembly.at(one, place, one.units[place].depth + change) for place in places]


def _of_the_question(
    triple: Triple, ours: Statements, theirs: Statements
) -> tuple[list[Statement], list[Statement], list[Statement]]:
    """The other side's new lines above those that do not go with the owner's, these, and below."""
    level = min(unit.depth for unit in theirs)
    starts = [n for n, u in enumerate(theirs) if u.depth == level and not u.continues]
    heads = {n + 1 for n in starts if theirs[n].is_comment or theirs[n].is_decorator}
    starts = [n for n in starts if n not in heads]  # with what stands above a statement
    # in front of the first one may be lines that end a block above
    edges = sorted({0, *starts[theirs[0].depth == level :], len(theirs)})
    parts = [theirs[a:b] for a, b in itertools.pairwise(edges)]
    modules, own = triple.modules, triple.ours.added
    apart = [
        number
        for number, part in enumerate(parts)
        if (ours and not can_commute(ours, part, modules))
        or any(same_purpose(unit, own, triple.base) for unit in part)
        or any((unit.scope, unit.key) in triple.places for unit in part)  # they are moved here
    ]
    if not apart and ours and theirs[0].depth > level == min(unit.depth for unit in ours):
        apart = [*range(1, len(parts))]
    first, last = (apart[0], apart[-1]) if apart else (0, len(parts) - 1)
    rows = parts[:first], parts[first : last + 1], parts[last + 1 :]
    above, those, below = ([unit for part in found for unit in part] for found in rows)
    return above, those, below


def _new_names(theirs: Statements, ours: Statements) -> set[int]:
    """The new imports and definitions of the other side, which do no harm with the owner's.

    Other lines may need them.
    """
    known = bound_in(ours)
    found: set[int] = set()
    for place, unit in enumerate(theirs):
        first = place
        while first and theirs[first - 1].is_decorator:
            first -= 1
        whole = [*range(first, place + 1), *block_of(theirs, place)]
        is_new = all(theirs[row].origin.startswith("t") for row in whole)
        is_definition = isinstance(unit.node, ast.FunctionDef | ast.ClassDef)
        if unit.depth or not is_new or not (is_definition or imports_of(unit)):
            continue
        if not known & effects_of(unit).binds:
            found.update(whole)
    return found


def _strip_common(
    base: list[Statement], ours: list[Statement], theirs: list[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """Take the lines that both sides have at the beginning and at the end out of a conflict."""
    common: dict[int, list[Statement]] = {0: [], -1: []}
    for end, found in common.items():
        while ours and theirs and _equal(ours[end], theirs[end]):
            found.append(ours.pop(end))
            same = theirs.pop(end).same
            if base and base[end].same == same:
                base.pop(end)
    return common[0], common[-1][::-1]


def _in_order(triple: Triple, gap: int, ours: Statements, theirs: Statements) -> list[Piece]:
    """The new units of both sides in one gap."""
    if not ours or not theirs:
        return [*ours, *theirs]
    if (place := place_for_next(triple, gap, theirs)) < len(theirs):
        return [*_in_order(triple, gap, ours, theirs[:place]), *theirs[place:]]
    both = [*ours, *theirs]
    if all(map(import_node, both)) and not any(unit.blanks for unit in both):
        rows = sorted(both, key=_place_among_imports)
        return [*rows]
    if triple.kind == TEXT and ours[0].blanks and not theirs[0].blanks:
        return [*theirs, *ours]  # they go on with what is above: the last row of a list
    if all(map(imports_of, theirs)) and not any(map(imports_of, ours)):
        return [*theirs, *ours]
    opens = triple.opens_for_next(triple.ours, gap)
    if not opens and min(unit.depth for unit in theirs) > max(unit.depth for unit in ours[:1]):
        return [*theirs, *ours]  # they end the block above
    if leaves_first(triple, gap, ours, theirs) or get_given_again(triple, gap, ours, theirs):
        return [*theirs, *ours]
    if leaves_last(triple, gap, ours, theirs, ours):
        return [*ours, *theirs]
    if leaves_at_end(triple, gap, ours, theirs):
        return [*theirs, *ours]
    clips = all(limits_gradients(unit.text) for unit in ours)
    if clips and any(waits_for_parts(unit.text) for unit in theirs):
        return [*theirs, *ours]  # gradients are complete when all parts are done
    if theirs[0].depth == ours[0].depth and work_on_given(triple, gap, ours, theirs):
        last = any(prepares(unit.text) for unit in ours)
        return [*theirs, *ours] if last else [*ours, *theirs]
    if ours[-1].is_decorator != theirs[-1].is_decorator:
        return [*theirs, *ours] if ours[-1].is_decorator else [*ours, *theirs]
    # what continues the block above comes first, what opens one for the next unit comes last
    if triple.stands_for_next(gap, ours) or triple.goes_with_next(triple.ours, gap):
        return [*theirs, *ours]
    if ours[0].blanks and not theirs[0].blanks and _is_close_to_next(triple, gap):
        return [*theirs, *ours]
    inside = triple.opens_for_next(triple.theirs, gap) and (
        ours[0].blanks or (triple.stands_beside_next(gap) and ours[0].depth > theirs[-1].depth)
    )
    last = triple.opens_for_next(triple.ours, gap)
    if last and min(unit.depth for unit in theirs) > ours[-1].depth:
        return [*ours, *theirs]  # into the owner's block, with what needs them
    if inside or last or theirs[0].depth > ours[0].depth:
        return [*theirs, *ours]
    return [*ours, *theirs]


def _place_among_imports(unit: Statement) -> tuple[bool, str]:
    """`import b` stands above `from a import b`, and both in the order of the alphabet."""
    module = min(row.module for row in imports_of(unit)).lower()
    return isinstance(unit.node, ast.ImportFrom), module


def _is_close_to_next(triple: Triple, gap: int) -> bool:
    """Whether the owner took out the blank line between new lines and the next one."""
    after = triple.ours.of(gap)
    if after is None or triple.opens_for_next(triple.theirs, gap):
        return False
    return bool(triple.base[gap].blanks) and not after.blanks


def _imports_first(pieces: Sequence[Piece]) -> list[Piece]:
    """The other side's imports above the first definition, where the owner's may stand now."""
    units = [(n, row) for n, row in enumerate(pieces) if isinstance(row, Statement)]
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    first = next((n for n, row in units if isinstance(row.node, kinds)), len(pieces))
    imports = [(n, row) for n, row in units if not row.depth and imports_of(row)]
    late = [row for n, row in imports if n > first and row.origin.startswith("t")]
    place = max((n for n, _ in imports if n < first), default=-1) + 1
    if not late or not place:
        return list(pieces)
    rest = [row for row in pieces[place:] if row not in late]
    return [*pieces[:place], *(replace(row, blanks=0) for row in late), *rest]


def _are_beside(triple: Triple, one: Statement, two: Statement) -> bool:
    """Whether two imports belong to one section: both sides' first ones in it, or of Python.

    Or a new one and the owner's first one, which is not the first in the other side.
    """
    if not imports_of(one) or not imports_of(two):
        return False
    first, second = one.origin[:1], two.origin[:1]
    there = triple.theirs.of(int(two.origin[1:])) if first + second == "tb" else None
    are_new = first + second in ("mt", "tm") and one.blanks == two.blanks
    follows = there is not None and not there.blanks
    return are_new or follows or (is_standard(one) and is_standard(two))


def _close_up(triple: Triple, pieces: Sequence[Piece]) -> list[Piece]:
    """Remove blank lines that neither side has: below the head of a block, and between imports."""
    known = {
        (one.key, two.key, two.blanks)
        for side in (triple.ours, triple.theirs)
        for one, two in itertools.pairwise(side.units)
    }
    out: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Statement) and piece.blanks and out and isinstance(out[-1], Statement):
            above = out[-1]
            closes = above.depth < piece.depth or _are_beside(triple, above, piece)
            if closes and (above.key, piece.key, piece.blanks) not in known:
                piece = replace(piece, blanks=0)
        out.append(piece)
    return out


def _equal(one: Statement, two: Statement) -> bool:
    return (one.same, one.depth) == (two.same, two.depth)


def assemble(
    sides: Sequence[Statements], kind: str, indent: str = "    ", union: bool = False
) -> Assembly:
    base, ours, theirs = sides
    other = align(base, theirs)
    for follow in FOLLOWED if kind == PYTHON else ():
        now, ours = follow(base, ours, other, indent)
        if now is not base:
            base, other = now, align(now, theirs)
    mine = align(base, ours, theirs if kind == PYTHON else None)
    found = Assembly(base, mine, other, kind, union, indent)
    gone = moved_and_gone(found)[0] | emptied(found) | moved_comments(found) | outdated(found)
    return replace(found, gone=gone, followed=moved_and_changed(found))


# what is written


def choose_ours(pieces: Sequence[Piece]) -> list[Statement]:
    return choose(pieces, lambda clash: clash.ours)


def choose(pieces: Sequence[Piece], side: Callable[[Clash], Statements]) -> list[Statement]:
    """The merged units, with one side of each conflict."""
    units: list[Statement] = []
    for piece in pieces:
        units += side(piece) if isinstance(piece, Clash) else [piece]
    return units


def write_pieces(
    pieces: Sequence[Piece], name_cause: Callable[[str, Hunk], str]
) -> tuple[str, list[tuple[int, str]]]:
    """The text with its conflicts, and the line and the cause of each.

    `name_cause` returns the cause of a conflict about these lines, in this region.
    """
    rows: list[str] = []
    conflicts = []
    kept = [piece for piece in pieces if isinstance(piece, Statement)]
    for piece in pieces:
        if isinstance(piece, Statement):
            rows += [""] * piece.blanks + list(piece.lines)
            continue
        whole = piece.base, piece.theirs
        shown = shorten(piece.ours, whole, kept)
        ours, base, theirs = map(_rows, (piece.ours, *shown))
        rows += [""] * (piece.ours or piece.theirs)[0].blanks
        cause = name_cause("\n".join(theirs or base), piece.hunk)
        if shown != whole:
            cause += SHORTENED
        conflicts.append((len(rows) + 1, cause))
        rows += frame(ours, base, theirs, cause)
    return "".join(f"{row}\n" for row in rows), conflicts


def _rows(units: Statements) -> list[str]:
    return write_units(units).strip("\n").split("\n") if units else []
