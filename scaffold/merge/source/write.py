"""Writes statements as a text."""

from collections.abc import Sequence

from scaffold.merge.source.statement import Statement


def write_units(units: Sequence[Statement]) -> str:
    rows: list[str] = []
    for unit in units:
        rows += [""] * unit.blanks + list(unit.lines)
    return "".join(f"{row}\n" for row in rows)
