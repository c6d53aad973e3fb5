"""Moves generated statements to where their owner moved them: into functions, methods and classes.

The pristine and the new file get the owner's definitions, filled with their own statements, so
that an update changes a statement where it is now. What a part needs and returns is passed on as
its owner does it: as attributes, or as parameters and what is returned.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scaffold.merge.diff.mapping import align, anchor
from scaffold.merge.normalize.extracted.attributes import Attributes, find_attributes
from scaffold.merge.normalize.extracted.kept import move_kept
from scaffold.merge.normalize.extracted.parts import Part, find_parts, result_of
from scaffold.merge.normalize.extracted.signature import binds_outer_names, passed_on
from scaffold.merge.normalize.extracted.spans import Spans, find_spans, spans_of
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.semantics.flow import functions
from scaffold.merge.source.parse import parse
from scaffold.merge.source.statement import Statement, fingerprint
from scaffold.merge.source.style import NO_RENAMES, Renames, rename_units
from scaffold.merge.source.write import write_units


def follow_extracted(
    base: Sequence[Statement],
    ours: Sequence[Statement],
    theirs: Sequence[Statement],
    indent: str,
    renames: Renames = NO_RENAMES,
) -> tuple[list[Statement], list[Statement]] | None:
    """Base and theirs with the owner's definitions and names. None if nothing was moved."""
    base, theirs = move_kept(base, ours, theirs)
    named = base if renames == NO_RENAMES else rename_units(base, renames)
    parts = find_parts(base, ours, named)
    if not parts:
        return None
    held = functions(theirs).keys()
    if any(part.target.name in held - functions(base).keys() for part in parts):
        return None  # the update moves it there, too
    there = held & functions(named).keys()  # a renamed one is no part
    parts = [part for part in parts if part.function.name in there]
    spans = find_spans(align(base, theirs), base, ours, parts)
    parts = [part for part in parts if part in spans]
    if not parts:
        return None
    old = Moved(named, base, ours, parts, spans_of(parts), renames, indent)
    old.attributes = find_attributes(old.of, ours, parts)
    new = Moved(rename_units(theirs, renames), theirs, ours, parts, spans, renames, indent)
    new.attributes = find_attributes(new.of, ours, parts, old.attributes, spans)
    if any(binds_outer_names(old, new, part) for part in parts):
        return None
    new.instead = passed_on(old, new)
    found = old.units(), new.units()
    try:
        for units in found:
            parse(write_units(units))
    except SyntaxError:
        return None
    return found


@dataclass
class Moved:
    """A generated file, and where the owner has the parts of it."""

    side: Sequence[Statement]  # with the owner's names
    generated: Sequence[Statement]
    ours: Sequence[Statement]
    parts: Sequence[Part]
    spans: Spans
    renames: Renames
    indent: str
    attributes: Attributes = field(init=False)
    instead: Mapping[int, list[Statement]] = field(default_factory=dict)  # of the owner's lines

    def of(self, part: Part | None) -> Sequence[Statement]:
        """The file with the names that a part has."""
        return self.generated if part and part.as_generated else self.side

    def called(self, part: Part, name: str) -> str:
        """What the function from which a part was taken calls one of its variables."""
        return self.renames.of(part.function.name).get(name, name) if part.as_generated else name

    def units(self) -> list[Statement]:
        """The file with the owner's definitions."""
        if any(part.target.end == 0 for part in self.parts):
            return list(self.side)
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
                early -= effects_of(unit).binds
                now = {name: held for name, held in table.items() if name not in early}
                unit = self.attributes.rename(unit, now)
            out.append(self._at(unit, unit.depth + own - level))
        if self.returns(part):
            out[-1] = _returned(out[-1])
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
            while (
                head
                and self.ours[head - 1].depth == self.ours[head].depth
                and (self.ours[head - 1].text.lstrip().startswith("@"))
            ):
                head -= 1
            end = part.target.end
            depth = self.ours[head].depth
            while end < len(self.ours) and self.ours[end].depth > depth:
                end += 1
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
        self,
        out: list[tuple[int, Statement]],
        new: list[Statement],
        rows: Sequence[Statement],
        end: int,
    ) -> None:
        """Put a definition in front of what it stands in front of in the owner's file."""
        depth = rows[0].depth
        scope = rows[0].scope
        after = [u for u in self.ours[end:] if u.depth == depth and u.scope == scope]
        place = None
        for unit in after:
            if unit.is_comment:
                continue
            found = [n for n, (_, row) in enumerate(out) if _is_same(row, unit)]
            if found:
                place = found[0]
                break
        if place is None:
            place = len(out) if not scope else _end_of(out, scope)
        while place and out[place - 1][1].is_comment and out[place - 1][1].depth == depth:
            place -= 1
        out[place:place] = [(-1, unit) for unit in new]


def _shares_call(parts: Sequence[Part], part: Part) -> bool:
    """Whether one line calls this part and one before it: `Trainer(config).fit()`."""
    return any(part.calls == other.calls for other in parts[: parts.index(part)])


def _returned(unit: Statement) -> Statement:
    """`return f()` for `names = f()`."""
    text = f"return {unit.text.partition(' = ')[2]}"
    return replace(unit, lines=tuple((unit.margin + text).split("\n")), key=fingerprint(text))


def _is_same(one: Statement, two: Statement) -> bool:
    if (one.depth, one.scope) != (two.depth, two.scope):
        return False
    return one.key == two.key or (len(anchor(one)) > 1 and anchor(one) == anchor(two))


def _end_of(out: Sequence[tuple[int, Statement]], scope: str) -> int:
    """Where a class ends. At the top if it is not there: nobody can read a method there."""
    inside = (n for n, (_, unit) in enumerate(out) if unit.scope.startswith(scope))
    return max(inside, default=-1) + 1
