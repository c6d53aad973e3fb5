"""Three versions of one text, aligned: the input of a merge."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from scaffold.merge.diff.mapping import Side, anchor, find_parents, places_of
from scaffold.merge.semantics.flow import read_in
from scaffold.merge.source.imports import imports_of
from scaffold.merge.source.parse import nodes_of
from scaffold.merge.source.statement import Statement, Statements
from scaffold.merge.source.training import puts_in_other_weights

# Units of the base from, to, with the gaps in front of them: a gap alone where both are the same.
# One that reaches beyond the last unit has the gap at the end of the file in it.
Hunk = tuple[int, int]


@dataclass
class Triple:
    base: Statements
    ours: Side
    theirs: Side
    kind: str
    union: bool  # whether lines of text that both sides insert in one place may both stay
    # new units of the owner that are units of the base, moved, which the other side changed
    followed: Mapping[int, int] = field(default_factory=dict, kw_only=True)

    @cached_property
    def parents(self) -> Sequence[int | None]:
        """For each unit of the base, the head of the block that it is in."""
        return find_parents(self.base)

    @cached_property
    def places(self) -> Mapping[tuple[str, str], Sequence[int]]:
        """The units of the base, by their definitions and what they say."""
        return places_of(self.base)

    def origin(self, side: Side, place: int) -> str:
        """Where a unit of a side comes from."""
        known = side.number_of.get(place)
        return f"{'m' if side is self.ours else 't'}{place}" if known is None else f"b{known}"

    @cached_property
    def own_reads(self) -> set[str]:
        """The names that the owner's code reads."""
        return read_in(self.ours.units)

    @cached_property
    def modules(self) -> set[str]:
        """The names of what the three versions import."""
        rows = (*self.base, *self.ours.units, *self.theirs.units)
        return {found.called.split(".")[0] for row in rows for found in imports_of(row)}

    @cached_property
    def has_other_comments(self) -> bool:
        """Whether the owner wrote, or translated, most comments anew."""
        pairs = [
            (unit.comment, ours.comment)
            for number, unit in enumerate(self.base)
            if unit.comment and (ours := self.ours.of(number)) and ours.key == unit.key
        ]
        return len(pairs) >= 5 and 2 * sum(old != new for old, new in pairs) > len(pairs)

    def edited(self, number: int) -> bool:
        """Whether the owner changed a unit, so that it may not go without a question.

        The comment of a line goes with it if the owner took it out, as everywhere, and what the
        owner says of a definition goes with that.
        """
        unit, ours = self.base[number], self.ours.of(number)
        if ours and anchor(unit) == anchor(ours) == ("Expr", "text"):
            return False
        if ours is None or not (ours.key == unit.key or _names_otherwise(unit, ours)):
            # what the code needs is imported again
            imported = imports_of(ours) if ours else frozenset()
            new = {row.called.split(".")[0] for row in imported - imports_of(unit)}
            return not imported or not new <= self.own_reads
        return bool(ours.comment) and ours.comment != unit.comment and not self.has_other_comments

    def opens_for_next(self, side: Side, gap: int) -> bool:
        """Whether new lines end with the head of a block around the next unit."""
        after, places = side.of(gap), side.inserts[gap]
        return bool(places) and after is not None and after.depth > side.units[places[-1]].depth

    def comments_of_next(self, gap: int) -> int:
        """How many of the owner's new lines are comments on the next unit, right above it."""
        side, places = self.ours, self.ours.inserts[gap]
        number = side.match[gap] if gap < len(self.base) else None
        if number is None or not places or self.opens_for_next(self.theirs, gap):
            return 0
        count = 0
        while count < len(places) and places[-1 - count] == number - 1 - count:
            unit, below = side.units[number - 1 - count], side.units[number - count]
            if not unit.is_comment or below.blanks or unit.depth != below.depth:
                break
            count += 1
        return count

    def goes_with_next(self, side: Side, gap: int) -> bool:
        """Whether new lines of a side make a call that was in the next line, which uses it now.

        Or the same call, as a second evaluation, where the next line gets averaged weights. They
        follow it into a new block.
        """
        after = side.of(gap)
        if after is None or not side.inserts[gap]:
            return False
        gone = called_in(self.base[gap]) - called_in(after)
        if side is self.ours and self.opens_for_next(self.theirs, gap):
            head = self.theirs.units[self.theirs.inserts[gap][-1]]
            gone |= called_in(after) if puts_in_other_weights(head.text) else set()
        return bool(gone) and any(
            gone & called_in(side.units[place]) for place in side.inserts[gap]
        )

    def stands_beside_next(self, gap: int) -> bool:
        """Whether the owner's new lines begin in the block of the next unit, not above it."""
        after = self.ours.of(gap)
        first = self.ours.units[self.ours.inserts[gap][0]]
        return after is not None and first.depth <= after.depth

    def stands_for_next(self, gap: int, ours: Statements) -> bool:
        """Whether the owner's new lines replace the next unit, which the other side kept.

        Only comments follow it into a new block: it may be out.
        """
        if self.ours.of(gap) or not self.theirs.of(gap):
            return False
        return all(unit.is_comment for unit in ours) or not self.opens_for_next(self.theirs, gap)


def _names_otherwise(old: Statement, new: Statement) -> bool:
    """Whether a unit assigns the same value, to another key of the same object, or to a key too."""
    before, after = old.node, new.node
    if not isinstance(before, ast.Assign) or not isinstance(after, ast.Assign):
        return False
    if ast.dump(before.value) != ast.dump(after.value):
        return False
    names = {ast.unparse(node) for node in before.targets}
    keys = [node for node in after.targets if ast.unparse(node) not in names]
    holders = [node.value for node in keys if isinstance(node, ast.Subscript)]
    if len(holders) < len(keys):
        return False
    held = {ast.unparse(row.value) for row in before.targets if isinstance(row, ast.Subscript)}
    return len(keys) < len(after.targets) or {*map(ast.unparse, holders)} == held


def called_in(unit: Statement) -> set[str]:
    """What a statement calls."""
    nodes = nodes_of(unit.node) if unit.node else ()
    return {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}


def contains(units: Statements, others: Statements, level: tuple[int, int] | None = None) -> bool:
    """Whether the units contain all the others, in their order and in the same blocks.

    `level` is the depth from which each side counts: that of its outermost unit, or this.
    """
    lowest = [min((unit.depth for unit in rows), default=0) for rows in (units, others)]
    one, two = level or lowest
    rest = iter([(unit.key, unit.depth - one) for unit in units])
    return all((unit.key, unit.depth - two) in rest for unit in others)
