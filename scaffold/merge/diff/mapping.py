"""Matches the units of an edited file with those of the file it was made from."""

import ast
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from scaffold.merge.source.matcher import SequenceMatcher, pairs
from scaffold.merge.source.parse import LOOPS, targets_of
from scaffold.merge.source.statement import Statement, Statements, block_of, parse_unit
from scaffold.merge.source.training import job_option

_ALIKE = 0.55  # the share of common words below which units are different statements


@dataclass(frozen=True)
class Side:
    """One of the two edited files, seen from the base."""

    units: Statements
    match: Sequence[int | None]  # for each unit of the base, its unit in this file
    inserts: Sequence[Sequence[int]]  # new units before each unit of the base, and at the end
    number_of: Mapping[int, int]  # the inverse of `match`

    @cached_property
    def parents(self) -> Sequence[int | None]:
        """For each unit, the head of the block that it is in."""
        return find_parents(self.units)

    def heads(self, place: int | None) -> Iterator[int]:
        """The heads of all blocks around a unit, the innermost first."""
        while place is not None and (place := self.parents[place]) is not None:
            yield place

    @cached_property
    def levels(self) -> Sequence[int]:
        """The smallest depth of the new units of each gap."""
        depths = ([self.units[row].depth for row in places] for places in self.inserts)
        return [min(row, default=0) for row in depths]

    @cached_property
    def gap_of(self) -> Mapping[int, int]:
        return {place: gap for gap, places in enumerate(self.inserts) for place in places}

    @cached_property
    def level_at(self) -> Mapping[int, int]:
        """The smallest depth of the new units of a gap, from the first one to each of them."""
        found: dict[int, int] = {}
        for places in self.inserts:
            depths = (self.units[row].depth for row in places)
            found |= zip(places, itertools.accumulate(depths, min), strict=True)
        return found

    @cached_property
    def added(self) -> list[Statement]:
        return self.new(*range(len(self.inserts)))

    def new(self, *gaps: int) -> list[Statement]:
        """The new units of some gaps."""
        return [self.units[place] for gap in gaps for place in self.inserts[gap]]

    @cached_property
    def purposes(self) -> set[tuple[str, ...]]:
        """What the new units bind or call."""
        return set(map(anchor, self.added))

    @cached_property
    def places(self) -> Mapping[tuple[str, str], Sequence[int]]:
        return places_of(self.units)

    def added_like(self, unit: Statement) -> list[int]:
        """The new units that say the same, in the same definition."""
        places = self.places.get((unit.scope, unit.key), ())
        return [place for place in places if place in self.gap_of]

    def added_as(self, unit: Statement) -> list[int]:
        """Those at the same depth, and with no other words about them."""
        return [
            row
            for row in self.added_like(unit)
            if self.units[row].depth == unit.depth
            and (not unit.comment or self.units[row].comment in ("", unit.comment))
        ]

    def of(self, number: int) -> Statement | None:
        """What became of a unit of the base. None at its end, too."""
        found = self.match[number] if number < len(self.match) else None
        return None if found is None else self.units[found]


def places_of(units: Statements) -> Mapping[tuple[str, str], Sequence[int]]:
    """Where units are, by their definitions and what they say."""
    found: dict[tuple[str, str], list[int]] = {}
    for place, unit in enumerate(units):
        found.setdefault((unit.scope, unit.key), []).append(place)
    return found


def find_parents(units: Statements) -> list[int | None]:
    """For each unit, the nearest code above it that is less deep."""
    found: list[int | None] = []
    heads: list[int] = []
    for place, unit in enumerate(units):
        above = [head for head in heads if units[head].depth < unit.depth]
        found.append(above[-1] if above else None)
        if not unit.is_comment:  # a comment may stand anywhere in a block
            heads = [*above, place]
    return found


def align(base: Statements, units: Statements, theirs: Statements | None = None) -> Side:
    """Map the statements of an edited file.

    With the other side, those that the owner moved into a new definition have no match in place,
    unless that side did the same.
    """
    match: list[int | None] = [None] * len(base)
    _match_same(base, units, match)
    for b_range, u_range in _gaps(base, units, match):
        _match_alike(base, units, b_range, u_range, match)
    _part_heads(base, units, match)
    _part_decorators(base, units, match)
    if theirs is not None:
        _part_moved(base, units, match, {unit.key for unit in theirs})
    else:
        _part_scopes(base, units, match)
        _part_copies(base, units, match)
    inserts: list[list[int]] = [[] for _ in range(len(base) + 1)]
    number_of = {found: number for number, found in enumerate(match) if found is not None}
    gap = 0
    for position in range(len(units)):
        if position in number_of:
            gap = number_of[position] + 1
        else:
            while (
                gap < len(base) and match[gap] is None and base[gap].depth > units[position].depth
            ):
                gap += 1  # below the block of what is gone
            replaces = gap < len(base) and base[gap].is_decorator
            there = gap if replaces else _decorated(units, position, number_of, gap)
            inserts[there].append(position)
    return Side(units, match, inserts, number_of)


def _decorated(units: Statements, position: int, number_of: Mapping[int, int], gap: int) -> int:
    """The gap of a new unit: of a decorator, that in front of what it stands on."""
    while position not in number_of:
        if position >= len(units) or not units[position].is_decorator:
            return gap
        position += 1
    return number_of[position]


def _gaps(
    base: Statements, units: Statements, match: Sequence[int | None]
) -> list[tuple[range, range]]:
    """Ranges between matches in which both files have units."""
    found = []
    i = j = 0
    for number, position in [*enumerate(match), (len(base), len(units))]:
        if position is None:
            continue
        if number > i and position > j:
            found.append((range(i, number), range(j, position)))
        i, j = number + 1, position + 1
    return found


def _match_same(base: Statements, units: Statements, match: list[int | None]) -> None:
    """Pair units that say the same, those that are in as many loops as before first."""
    names = [[(unit.scope, unit.same) for unit in side] for side in (base, units)]
    loops = map(_count_loops, (base, units))
    in_loops = [[*zip(*pair, strict=True)] for pair in zip(names, loops, strict=True)]
    for one, two in (in_loops, names):
        for b_range, u_range in _gaps(base, units, match):
            for i, j in pairs([one[row] for row in b_range], [two[row] for row in u_range]):
                match[b_range[i]] = u_range[j]


def _count_loops(units: Statements) -> list[int]:
    """In how many loops of its definition each unit is."""
    counts: list[int] = []
    for head in find_parents(units):
        if head is None or units[head].defined:
            counts.append(0)
        else:
            counts.append(counts[head] + isinstance(units[head].node, LOOPS))
    return counts


def _match_alike(
    base: Statements, units: Statements, b_range: range, u_range: range, match: list[int | None]
) -> None:
    """Pair edited units, in order, so that all pairs together are as alike as possible."""
    if len(b_range) * len(u_range) > 10_000:
        return
    best = [[0.0] * (len(u_range) + 1) for _ in range(len(b_range) + 1)]
    likeness = [[alike(base[i], units[j]) for j in u_range] for i in b_range]
    for x in reversed(range(len(b_range))):
        for y in reversed(range(len(u_range))):
            paired = likeness[x][y] and likeness[x][y] + best[x + 1][y + 1]
            best[x][y] = max(best[x + 1][y], best[x][y + 1], paired)
    x = y = 0
    while x < len(b_range) and y < len(u_range):
        if likeness[x][y] and best[x][y] == likeness[x][y] + best[x + 1][y + 1]:
            match[b_range[x]] = u_range[y]
            x, y = x + 1, y + 1
        elif best[x][y] == best[x + 1][y]:
            x += 1
        else:
            y += 1


def _part_heads(base: Statements, units: Statements, match: list[int | None]) -> None:
    """Undo the match of edited heads if most of what was in the block is elsewhere now."""
    for number, position in enumerate(match):
        if position is None or base[number].same == units[position].same:
            continue
        block = block_of(units, position)
        found = [match[row] for row in block_of(base, number)]
        kept = sum(row in block for row in found if row is not None)
        if 2 * kept < sum(row is not None for row in found):
            match[number] = None


def _part_decorators(base: Statements, units: Statements, match: list[int | None]) -> None:
    """Undo the match of decorators that stand on different functions."""
    for number in reversed(range(len(base) - 1)):
        position = match[number]
        if position is None or not base[number].is_decorator:
            continue
        below = match[number + 1]
        while below is not None and below > position + 1 and units[below - 1].is_decorator:
            below -= 1  # another decorator is new
        if below != position + 1:
            match[number] = None


def _part_scopes(base: Statements, units: Statements, match: list[int | None]) -> None:
    """Undo the matches between functions that are not the same one under another name."""
    heads = [
        {unit.defined: number for number, unit in enumerate(side) if unit.defined}
        for side in (base, units)
    ]
    for number, position in enumerate(match):
        if position is not None and base[number].scope != units[position].scope:
            one, two = heads[0].get(base[number].scope), heads[1].get(units[position].scope)
            if one is None or two is None or match[one] != two:
                match[number] = None


def _part_copies(base: Statements, units: Statements, match: list[int | None]) -> None:
    """Undo the match of edited statements that stand as they were elsewhere in their definition."""
    known, places, taken = places_of(base), places_of(units), set(match)
    for number, position in enumerate(match):
        name = base[number].scope, base[number].key
        if position is None or units[position].key == name[1] or base[number].is_comment:
            continue
        if len(known[name]) == len(places.get(name, ())) == 1 and places[name][0] not in taken:
            match[number] = None


def _part_moved(
    base: Statements, units: Statements, match: list[int | None], theirs: Collection[str]
) -> None:
    """Undo the match of edited statements that stand in a new definition as they were."""
    scopes = {unit.scope for unit in base}
    known = Counter(unit.key for unit in base)
    moved = Counter(unit.key for unit in units if unit.scope not in scopes)
    for number, position in enumerate(match):
        key, now = base[number].key, None if position is None else units[position].key
        if now not in (None, key) and now not in theirs and known[key] == moved[key] == 1:
            match[number] = None


def alike(one: Statement, two: Statement) -> float:
    """How likely two units are versions of the same one: from 0 (they are not) to 2."""
    if one.same == two.same:
        return 2.0
    if one.key == two.key:
        return 1.9
    if one.is_comment != two.is_comment:
        return 0.0
    first, second = anchor(one), anchor(two)
    if (len(first) > 1 and first == second) or _are_loops(one, two):
        return 1.0 + _ratio(one.text, two.text)
    if first[:1] != second[:1] or (first[:1] == ("row",) and len(first) > 1 < len(second)):
        return 0.0  # rows with other keys
    ratio = _ratio(one.text, two.text)
    return ratio if ratio >= _ALIKE else 0.0


@lru_cache(maxsize=4096)
def _ratio(one: str, two: str) -> float:
    words = [re.findall(r"\w+|[^\w\s]", text) for text in (one, two)]
    matcher = SequenceMatcher(*words)
    quick = matcher.quick_ratio()
    return matcher.ratio() if quick >= _ALIKE else quick


def _are_loops(one: Statement, two: Statement) -> bool:
    """Whether two loops have the same variables: `for x in tqdm(data)` and `for x in data`."""
    loops = one.node, two.node
    targets = [ast.dump(node.target) for node in loops if isinstance(node, ast.For)]
    return len(targets) == 2 and targets[0] == targets[1]


def anchor(unit: Statement) -> tuple[str, ...]:
    """What a statement is for: its kind, and the name that it binds or calls."""
    if unit.is_comment:
        return ()
    return _anchor(unit.text.strip()) if unit.is_code else _row_anchor(unit.key.strip())


def _row_anchor(text: str) -> tuple[str, ...]:
    """The key of a row of TOML, YAML or shell, the package of a requirement, or the file that a
    row of a list is about."""
    if option := job_option(text):
        return ("row", "option", option)
    variable = re.match(r"(?:export|ENV|ARG)\s+(\w+)[=\s]", text)
    if variable:
        return ("row", "variable", variable[1])
    found = re.match(r"[\"'-]*\s*`?([\w.*-]+)[\"'`]?\s*(?:[=:<>~!,;\[\"']|$)", text)
    return ("row", found[1].lower()) if found else ()


@lru_cache(maxsize=262_144)
def _anchor(text: str) -> tuple[str, ...]:
    found = parse_unit(text)
    if found is None:
        return ()
    node, frame = found
    kind = frame.word + type(node).__name__
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and not frame.word:
        return (kind, node.name)
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return ("bind", *map(ast.unparse, targets_of(node)))
    if isinstance(node, ast.ImportFrom):
        return (kind, node.module or "")
    if isinstance(node, ast.Import):
        return (kind, node.names[0].name)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return (kind, ast.unparse(node.value.func))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return (kind, "text")
    if isinstance(node, ast.Return):
        return (kind, "")
    return (kind,)
