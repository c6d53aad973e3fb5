"""What the owner deleted, moved or wrote by hand, and an update brings elsewhere or deletes."""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator

from scaffold.merge.diff.mapping import Side, anchor
from scaffold.merge.diff.triple import Triple
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.semantics.flow import bound_in, functions
from scaffold.merge.source.imports import imports_of
from scaffold.merge.source.statement import PYTHON, TOML, Statement, Statements, block_of


def without_known(triple: Triple, gap: int, theirs: Statements) -> Iterator[Statement]:
    """The other side's new units of a gap without those that the owner has, or had, elsewhere."""
    drop = False
    for place, unit in zip(triple.theirs.inserts[gap], theirs, strict=True):
        if anchor(unit)[1:] != ("text",):  # a text says what the field above it is
            drop = (
                _is_written_by_hand(triple, place, gap)
                or stays_deleted(triple, place)
                or (bool(imports_of(unit)) and is_in(unit, triple.ours.added))
                or is_required(triple, unit)
            )
        if not drop:
            yield unit


def is_required(triple: Triple, unit: Statement) -> bool:
    """Whether the owner requires the package of a new row already, in any version or this one."""
    added = triple.ours.added if triple.kind == TOML else ()
    rows = [row for row in added if _is_same_package(row, unit)]
    return any(not _version(row) or _version(row) >= _version(unit) for row in rows)


def outdated(triple: Triple) -> set[int]:
    """The owner's new rows whose packages an update requires in higher versions."""
    return {
        place
        for place in (triple.ours.gap_of if triple.kind == TOML else ())
        for unit in triple.theirs.added
        if _is_same_package(row := triple.ours.units[place], unit)
        and () < _version(row) < _version(unit)
    }


def new_packages(triple: Triple, theirs: Statements, base: Statements) -> set[int]:
    """The rows of an update that require packages of which no row of a region or the owner does."""
    known = set(map(anchor, (*base, *triple.ours.units)))
    return {
        place
        for place, unit in enumerate(theirs if triple.kind == TOML else ())
        if anchor(unit) not in known and _REQUIREMENT.fullmatch(unit.key.strip())
    }


_REQUIREMENT = re.compile(r'"[\w.\[\]-]+(?:>=([\d.]+))?",?')


def _is_same_package(one: Statement, two: Statement) -> bool:
    """Whether two rows of TOML require the same package, with a lower bound at most."""
    if (anchor(one), one.scope) != (anchor(two), two.scope):
        return False
    return all(_REQUIREMENT.fullmatch(row.key.strip()) for row in (one, two))


def _version(unit: Statement) -> tuple[int, ...]:
    """The lowest version that a row accepts. Empty, if it accepts any."""
    found = _REQUIREMENT.fullmatch(unit.key.strip())
    return tuple(map(int, re.findall(r"\d+", found[1] or ""))) if found else ()


def _deleted_around(triple: Triple, gap: int) -> range:
    """The statements of the base around a gap that the owner deleted."""
    match, start, end = triple.ours.match, gap, gap
    while start > 0 and match[start - 1] is None:
        start -= 1
    while end < len(triple.base) and match[end] is None:
        end += 1
    return range(start, end)


def stays_deleted(triple: Triple, place: int) -> bool:
    """Whether a new statement of the other side is a call that it moved, and the owner deleted.

    There is nothing of the owner's in its place, and it is not all that its new block does.
    """
    units = triple.theirs.units
    unit = units[place]
    if triple.kind != PYTHON or anchor(unit)[:1] != ("Expr",):
        return False
    name = unit.scope, unit.key
    if len(triple.theirs.places[name]) > 1 or anchor(unit) in triple.ours.purposes:
        return False
    found = triple.places.get(name, ())
    if len(found) != 1 or triple.ours.match[found[0]] is not None:
        return False
    run = _deleted_around(triple, found[0])
    gaps = (*run, run.stop)
    replaced = triple.ours.new(*gaps)
    beside = [
        row.depth
        for row in units[place - 1 : place + 2]
        if row is not unit and row.depth == unit.depth
    ]
    return bool(beside) and all(row.is_comment for row in replaced)


def moved_and_gone(triple: Triple) -> tuple[set[int], set[int]]:
    """The owner's new units that are statements of the base, moved, which the other side deleted.

    They go, too: the first ones. The second ones can't, because a block would be empty.
    """
    units = triple.theirs.units
    theirs = {_identity(units, number) for number in range(len(units))}
    moved = {
        place
        for place, number in _moved(triple).items()
        if _is_only_deleted(triple, number) and _identity(triple.base, number) not in theirs
    }
    gone = set(moved)
    while kept := {place for place in gone if not _can_go(triple.ours, place, gone)}:
        gone -= kept
    return gone, moved - gone


def emptied(triple: Triple) -> set[int]:
    """The owner's new conditions around nothing but statements that the other side deleted.

    Not around what it has elsewhere now: there, too, it may depend on the condition.
    """
    side, found = triple.ours, set[int]()
    elsewhere = {anchor(row) for row in triple.theirs.added}
    for place in reversed([row for places in side.inserts for row in places]):
        head, block = side.units[place], block_of(side.units, place)
        after = block.stop < len(side.units) and side.units[block.stop].continues
        if not isinstance(head.node, ast.If) or head.continues or head.comment or after:
            continue
        numbers = [side.number_of.get(row) for row in block if row not in found]
        if numbers and all(
            number is not None
            and triple.theirs.match[number] is None
            and anchor(triple.base[number]) not in elsewhere
            and side.units[side.match[number] or 0].same == triple.base[number].same
            for number in numbers
        ):
            found.add(place)
    return found if triple.kind == PYTHON else set()


def moved_comments(triple: Triple) -> set[int]:
    """What the owner made of the comments of lines that the other side deleted: comments above
    these, or texts below."""
    side, found = triple.ours, set[int]()
    for number, unit in enumerate(triple.base):
        place = side.match[number]
        if place is None or not unit.comment or triple.theirs.match[number] is not None:
            continue
        for row in (place - 1, place + 1):
            other = side.units[row] if 0 <= row < len(side.units) else unit
            is_text = row > place and anchor(other)[1:] == ("text",)
            if (is_text or (row < place and other.is_comment)) and _says(other) == _says(unit):
                found.add(row)
    return found


def _says(unit: Statement) -> str:
    """The words of a comment or a text."""
    words = unit.comment or unit.text
    return " ".join(re.findall(r"\w+", words)).lower()


def moved_and_changed(triple: Triple) -> dict[int, int]:
    """The owner's new units that are statements of the base, moved, which the other side changed.

    They are fields, or in a new definition.
    """
    scopes = {unit.scope for unit in triple.base}
    return {
        place: number
        for place, number in _moved(triple).items()
        if (there := triple.theirs.of(number)) is not None
        and there.key != triple.base[number].key
        and not there.is_head
        and (
            _identity([there], 0)[0] == "class"
            or (triple.ours.units[place].scope not in scopes and _is_known(triple, place, there))
        )
    }


def _is_known(triple: Triple, place: int, there: Statement) -> bool:
    """Whether all that a changed statement reads is there, in the owner's new definition."""
    units, scope = triple.ours.units, triple.ours.units[place].scope
    known = bound_in(row for row in triple.theirs.units if not row.scope)
    known |= bound_in(row for row in units if row.scope in ("", scope))
    found = functions(units).get(scope)
    known |= set(found.parameters) if found else set()
    return effects_of(there).reads <= known | vars(builtins).keys()


def _moved(triple: Triple) -> dict[int, int]:
    """The owner's new units that are statements of the base, which are there once.

    They come from the same scope, or from any if their definition is new.
    """
    found: dict[int, int] = {}
    if triple.kind != PYTHON:
        return found
    scopes = {unit.scope for unit in triple.base}
    own = triple.ours.units
    for name, is_new in ((_identity, False), (_code, True)):
        before, now = ([name(units, n) for n in range(len(units))] for units in (triple.base, own))
        counts = Counter(before), Counter(now)
        lost = {row: n for n, row in enumerate(before) if triple.ours.match[n] is None}
        for place in (row for places in triple.ours.inserts for row in places):
            number = lost.get(now[place])
            if number is None or not counts[0][now[place]] == counts[1][now[place]] == 1:
                continue
            said = own[place].comment in ("", triple.base[number].comment)  # no words of the owner
            if said and (not is_new or own[place].scope not in scopes):
                found.setdefault(place, number)
    return found


def _code(units: Statements, number: int) -> tuple[str, ...]:
    """The code of a statement, and of all that is in its block."""
    return tuple(units[row].key for row in (number, *block_of(units, number)))


def _identity(units: Statements, number: int) -> tuple[str, ...]:
    """The scope and the code of a statement; a field may be in any class."""
    unit = units[number]
    in_class = unit.scope.rpartition(".")[2][:1].isupper()
    return "class" if in_class else unit.scope, unit.key


def _is_only_deleted(triple: Triple, number: int) -> bool:
    """Whether the other side deleted a statement, and wrote nothing in its place."""
    unit, theirs = triple.base[number], triple.theirs
    says_what = len(anchor(unit)) > 1 or isinstance(unit.node, ast.If | ast.For | ast.With)
    if unit.is_comment or not says_what or theirs.match[number] is not None:
        return False
    return not theirs.inserts[number] and not theirs.inserts[number + 1]


def _can_go(side: Side, place: int, gone: set[int]) -> bool:
    """Whether a unit can go with others: with all that is in its block, or from one that stays."""
    if any(row not in gone for row in block_of(side.units, place)):
        return False
    head = side.parents[place]
    return (
        head is None
        or head in gone
        or any(
            row not in gone and not side.units[row].is_comment for row in block_of(side.units, head)
        )
    )


def _is_written_by_hand(triple: Triple, place: int, gap: int) -> bool:
    """Whether the owner wrote a new statement of the other side into the same block by hand.

    It is another one if what it reads changes between the two places.
    """
    unit = triple.theirs.units[place]
    if unit.depth != triple.theirs.levels[gap] or len(anchor(unit)) < 2 or unit.is_head:
        return False
    if (unit.scope, unit.key) in triple.places:
        return False
    ours = triple.ours
    found = sorted(ours.gap_of[row] for row in ours.added_as(unit))
    if not found or triple.kind != PYTHON:
        return bool(found)
    effects = effects_of(unit)
    between = [row for number in range(found[0], gap) for row in triple.theirs.inserts[number]]
    between += [row for row in triple.theirs.inserts[gap] if row < place]
    if any(effects_of(triple.theirs.units[row]).binds & effects.reads for row in between):
        return False
    return not _is_used_between(triple, effects.changes, *sorted((found[0], gap)))


def _is_used_between(triple: Triple, names: set[str], start: int, end: int) -> bool:
    """Whether statements that all have call or change these objects: so the order counts."""
    for number in range(start, end):
        unit = triple.base[number]
        if unit.is_comment or None in (triple.ours.match[number], triple.theirs.match[number]):
            continue
        effects = effects_of(unit)
        if names & (effects.changes | effects.binds):
            return True
    return False


def is_in(unit: Statement, own: list[Statement]) -> bool:
    name = unit.scope, unit.key, unit.depth
    return any((row.scope, row.key, row.depth) == name for row in own)
