"""A generated file, with its statements where its owner moved them: to functions and methods.

Where the owner made a class of a function, variables of it are attributes of the object.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scaffold.merge.diff.mapping import anchor
from scaffold.merge.normalize.extracted.parts import Part, Spans, result_of
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.semantics.flow import bound_in, bound_names, functions, needed_by
from scaffold.merge.source.statement import Statement, Statements, block_of
from scaffold.merge.source.style import Renames, renamed_text, words


@dataclass
class Attributes:
    names: dict[str, set[str]]  # by class
    bare: dict[str, set[str]]  # variables of the owner's methods, by method
    held: dict[str, set[str]]  # attributes that the owner's methods use
    local: dict[str, set[str]]  # variables that the owner's methods set themselves

    def table(self, part: Part) -> dict[str, str]:
        """The variables of a part that are attributes there, or parameters with other names."""
        target = part.target
        if not target.owner:
            return dict(part.passed)
        local = set(target.parameters) | self.bare[target.name]
        names = self.names[class_of(part)] - (local - self.held[target.name])
        return {name: f"{target.owner}.{name}" for name in names}

    def bare_first(self, part: Part, ours: Statements) -> set[str]:
        """The parameters that the owner reads as such, before they become attributes."""
        seen: set[str] = set()
        found: set[str] = set()
        for unit in ours[slice(*part.inside)]:
            named = words(unit)
            found |= {word.name for word in named} - seen
            seen |= {word.name.lstrip(".") for word in named}
        return found & set(part.target.parameters)


def class_of(part: Part) -> str:
    return part.target.name.rpartition(".")[0]


def find_attributes(
    side: Callable[[Part], Statements], ours: Statements, parts: Sequence[Part]
) -> Attributes:
    names: dict[str, set[str]] = {}
    bare: dict[str, set[str]] = {}
    held: dict[str, set[str]] = {}
    local: dict[str, set[str]] = {}
    for part in parts:
        owner = part.target.owner
        if not owner:
            continue
        known = bound_names(side(part), part.function)
        rows = ours[slice(*part.inside)]
        found = {w.name for unit in rows for w in words(unit)}
        text = "\n".join(unit.text for unit in rows if not unit.is_comment)
        held[part.target.name] = set(re.findall(rf"\b{owner}\.(\w+)", text)) & known
        bare[part.target.name] = found & known
        given = needed_by(rows) | {*part.target.parameters}
        local[part.target.name] = found & known & bound_in(rows) - given
        names.setdefault(class_of(part), set()).update(held[part.target.name])
    return Attributes(names, bare, held, local)


def with_new_attributes(
    sides: tuple[Callable[[Part], Statements], Callable[[Part], Statements]],
    parts: Sequence[Part],
    old: Attributes,
    spans: Spans,
) -> Attributes:
    """The owner's attributes, and those variables that several methods need in the new file alone.

    `sides` are the base and the new file, for each part with the names that it has there.
    """
    base, theirs = sides
    # variables that the owner has as such
    known = set().union(*old.bare.values()) - set().union(*old.held.values())
    names = {name: set(found) for name, found in old.names.items()}
    bare = dict(old.bare)
    before = {part: base(part)[part.start : part.end] for part in parts}
    rows = {part: theirs(part)[slice(*spans[part])] for part in parts}
    for part in parts:
        if not part.target.owner:
            continue
        for other in parts:
            around = spans[other][0] <= spans[part][0] and spans[part][1] <= spans[other][1]
            if other is part or around or class_of(other) != class_of(part):
                continue
            shared = needed_by(rows[part]) & bound_in(rows[other])
            shared -= needed_by(before[part]) & bound_in(before[other])
            no_longer_local = shared & old.local[part.target.name]
            bare[part.target.name] = bare[part.target.name] - no_longer_local
            names[class_of(part)] |= shared - known | no_longer_local
    return Attributes(names, bare, old.held, old.local)


@dataclass
class Moved:
    """A generated file, and where the owner has the parts of it."""

    side: Statements  # with the owner's names
    generated: Statements
    ours: Statements
    parts: Sequence[Part]
    spans: Spans
    renames: Renames
    indent: str
    attributes: Attributes = field(init=False)
    instead: Mapping[int, list[Statement]] = field(default_factory=dict)  # of the owner's lines

    def of(self, part: Part | None) -> Statements:
        """The file with the names that a part has."""
        return self.generated if part and part.as_generated else self.side

    def called(self, part: Part, name: str) -> str:
        """What the function from which a part was taken calls one of its variables."""
        return self.renames.of(part.function.name).get(name, name) if part.as_generated else name

    def units(self) -> list[Statement]:
        """The file with the owner's definitions."""
        names = {part.function.name for part in self.parts}
        here = functions(self.side)
        there = functions(self.ours)
        gone = [here[name] for name in names if name in here and name not in there]
        inner = {n for function in gone for n in range(function.head, function.end)}
        out = [
            (number, unit)
            for number, unit in self._numbered(None, 0, len(self.side))
            if number not in inner
        ]
        for head, end in self._definitions():
            self._insert(out, self._definition(head, end), self.ours[head:end], end)
        return [unit for _, unit in out]

    def content(self, part: Part) -> list[Statement]:
        """The statements of a part, as they stand in the owner's definition."""
        start, end = self.spans[part]
        rows = self.of(part)[start:end]
        level = next(unit.depth for unit in rows if not unit.is_comment)
        first = part.inside[0]
        own = next(unit.depth for unit in self.ours[first:] if not unit.is_comment)
        table = self.attributes.table(part)
        early = self.attributes.bare_first(part, self.ours) & table.keys()
        out = []
        for number, unit in self._numbered(part, start, end):
            if number >= 0:
                bound = early & effects_of(unit).binds
                text = _renamed(unit, table, early, bound)
                early -= bound
                unit = unit if text == unit.text else unit.saying(text.lstrip())
            out.append(self._at(unit, unit.depth + own - level))
        if self.returns(part):  # `return f()` for `names = f()`
            out[-1] = out[-1].saying(f"return {out[-1].text.partition(' = ')[2]}")
        return [replace(out[0], blanks=self.ours[first].blanks), *out[1:]]

    def returns(self, part: Part) -> bool:
        """Whether a part ends with a value that the owner's definition returns at once."""
        last = self.of(part)[self.spans[part][1] - 1]
        return bool(part.results) and result_of(last) == list(part.results)

    def _at(self, unit: Statement, depth: int) -> Statement:
        return unit if unit.depth == depth else unit.at(depth, self.indent)

    def _numbered(
        self, outer: Part | None, start: int, end: int
    ) -> Iterator[tuple[int, Statement]]:
        """Statements of the side with their numbers, and the owner's calls in place of parts."""
        inner = {self.spans[part][0]: part for part in self.parts if part.outer is outer}
        number = start
        while number < end:
            part = inner.get(number)
            if part is None:
                yield number, self.of(outer)[number]
                number += 1
                continue
            first, last = self.spans[part]
            rows = self.side[first:last]
            depth = next(unit.depth for unit in rows if not unit.is_comment)
            if part.calls and not _shares_call(self.parts, part):
                for unit in self.instead.get(part.calls[0], [self.ours[part.calls[0]]]):
                    yield -1, self._at(unit, depth)
            number = last

    def _definitions(self) -> list[tuple[int, int]]:
        """The owner's lines of the new definitions that hold parts: whole classes, or functions."""
        known = {anchor(unit) for unit in self.side if unit.depth == 0}
        found = set()
        for part in self.parts:
            head = part.target.head
            top = head
            while self.ours[top].depth > 0 or self.ours[top].is_comment:
                top -= 1
            if anchor(self.ours[top]) not in known:
                head = top
            end = block_of(self.ours, head).stop
            while head and self.ours[head - 1].is_decorator:
                head -= 1
            found.add((head, end))
        return sorted(found)

    def _definition(self, head: int, end: int) -> list[Statement]:
        inside = {part.inside[0]: part for part in self.parts}
        out: list[Statement] = []
        number = head
        while number < end:
            part = inside.get(number)
            if part is None:
                out += self.instead.get(number, [self.ours[number]])
                number += 1
            else:
                out += self.content(part) + list(self.instead.get(-1 - number, []))
                number = part.inside[1]
        return out

    def _insert(
        self, out: list[tuple[int, Statement]], new: list[Statement], rows: Statements, end: int
    ) -> None:
        """Put a definition in front of what it stands in front of in the owner's file."""
        depth = rows[0].depth
        scope = rows[0].scope
        after = [u for u in self.ours[end:] if not u.is_comment]
        after = [u for u in after if (u.depth, u.scope) == (depth, scope)]
        units = [unit for _, unit in out]
        found = (place for unit in after if (place := _place_of(units, unit)) is not None)
        place = next(found, _end_of(units, scope) if scope else len(out))
        while place and out[place - 1][1].is_comment and out[place - 1][1].depth == depth:
            place -= 1
        out[place:place] = [(-1, unit) for unit in new]


def _renamed(
    unit: Statement, table: Mapping[str, str], early: Collection[str], bound: Collection[str]
) -> str:
    """A statement with the owner's attributes. What makes attributes of parameters reads those."""
    before = {name: held for name, held in table.items() if name not in early}
    now = before | {name: table[name] for name in bound}
    target, equals, value = unit.text.partition(" = ")
    if not bound or not equals:
        return renamed_text(unit, now)
    return (
        f"{renamed_text(unit.saying(target.lstrip()), now)} = "
        + renamed_text(unit.saying(value), before).lstrip()
    )


def _shares_call(parts: Sequence[Part], part: Part) -> bool:
    """Whether one line calls this part and one before it: `Trainer(config).fit()`."""
    return any(part.calls == other.calls for other in parts[: parts.index(part)])


def _is_same(one: Statement, two: Statement) -> bool:
    if (one.depth, one.scope) != (two.depth, two.scope):
        return False
    return one.key == two.key or (len(anchor(one)) > 1 and anchor(one) == anchor(two))


def _place_of(units: Statements, unit: Statement) -> int | None:
    """Where a statement of the owner's stands, or the block that a side put around it."""
    for place, row in enumerate(units):
        if _is_same(row, unit):
            return place
        if (row.scope, row.key) == (unit.scope, unit.key) and row.depth > unit.depth:
            return next(n for n in range(place, -1, -1) if units[n].depth == unit.depth)
    return None


def _end_of(units: Statements, scope: str) -> int:
    """Where a class ends. At the top if it is not there: nobody can read a method there."""
    inside = (n for n, unit in enumerate(units) if unit.scope.startswith(scope))
    return max(inside, default=-1) + 1
