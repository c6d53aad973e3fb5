"""Which variables of a function are attributes of the object where its owner made a class of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scaffold.merge.normalize.extracted.parts import Part
from scaffold.merge.semantics.flow import bound_in, bound_names, needed_by
from scaffold.merge.source.statement import Statement
from scaffold.merge.source.style import words

Spans = Mapping[Part, tuple[int, int]]


@dataclass
class Attributes:
    names: dict[str, set[str]]  # by class
    bare: dict[str, set[str]]  # variables of the owner's methods, by method
    held: dict[str, set[str]]  # attributes that the owner's methods use

    def table(self, part: Part) -> dict[str, str]:
        """The variables of a part that are attributes there, or parameters with other names."""
        target = part.target
        if not target.owner:
            return dict(part.passed)
        local = set(target.parameters) | self.bare[target.name]
        names = self.names[class_of(part)] - (local - self.held[target.name])
        return {name: f"{target.owner}.{name}" for name in names}

    def bare_first(self, part: Part, ours: Sequence[Statement]) -> set[str]:
        """The parameters that the owner reads as such, before they become attributes."""
        seen: set[str] = set()
        found: set[str] = set()
        for unit in ours[slice(*part.inside)]:
            named = words(unit)
            found |= {word.name for word in named} - seen
            seen |= {word.name.lstrip(".") for word in named}
        return found & set(part.target.parameters)

    def rename(self, unit: Statement, table: Mapping[str, str]) -> Statement:
        if not table or unit.is_comment:
            return unit
        text = unit.text
        for word in reversed(words(unit)):
            if word.name in table:
                text = text[: word.start] + table[word.name] + text[word.end :]
        return unit if text == unit.text else unit.saying(text.lstrip())


def class_of(part: Part) -> str:
    return part.target.name.rpartition(".")[0]


def find_attributes(
    side: Callable[[Part], Sequence[Statement]],
    ours: Sequence[Statement],
    parts: Sequence[Part],
    old: Attributes | None = None,
    spans: Spans | None = None,
) -> Attributes:
    """The owner's attributes; and of the new variables those that several methods need."""
    if old is not None and spans is not None:
        return _with_new(side, parts, old, spans)
    names: dict[str, set[str]] = {}
    bare: dict[str, set[str]] = {}
    held: dict[str, set[str]] = {}
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
        names.setdefault(class_of(part), set()).update(held[part.target.name])
    return Attributes(names, bare, held)


def _with_new(
    side: Callable[[Part], Sequence[Statement]],
    parts: Sequence[Part],
    old: Attributes,
    spans: Spans,
) -> Attributes:
    names = {name: set(found) for name, found in old.names.items()}
    rows = {part: side(part)[slice(*spans[part])] for part in parts}
    for part in parts:
        if not part.target.owner:
            continue
        for other in parts:
            around = spans[other][0] <= spans[part][0] and spans[part][1] <= spans[other][1]
            if other is part or around or class_of(other) != class_of(part):
                continue
            names[class_of(part)] |= needed_by(rows[part]) & bound_in(rows[other]) - _known(old)
    return Attributes(names, old.bare, old.held)


def _known(old: Attributes) -> set[str]:
    """Variables that the owner has as such."""
    return set().union(*old.bare.values()) - set().union(*old.held.values())
