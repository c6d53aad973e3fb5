"""Finds the lines that give names their values, in time that does not grow with the file."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.source.statement import Statement


class Sources:
    """The lines of a file that bind each name, by function.

    `changed` has the names that a function of the file changes: its calls are such lines, too.
    """

    def __init__(
        self, units: Sequence[Statement], changed: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self.units = units
        self.places: dict[tuple[str, str], list[int]] = defaultdict(list)
        for place, unit in enumerate(units):
            effects = effects_of(unit)
            names = set(effects.binds)
            if changed:
                names.update(*(changed.get(row, ()) for row in effects.reads))
            for name in names:
                self.places[unit.scope, name].append(place)

    def above(self, before: int, name: str) -> int | None:
        """The nearest such line above, in the same function."""
        scope = self.units[min(before, len(self.units) - 1)].scope
        places = self.places.get((scope, name), [])
        found = bisect_left(places, before) - 1
        return places[found] if found >= 0 else None
