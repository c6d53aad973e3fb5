"""Merges a notebook cell by cell: only the sources of generated cells are merged.

The owner's cells, outputs and metadata stay, and so do the order of the keys and the indentation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from scaffold.merge.model import OpenFile, broken_line
from scaffold.merge.source.notebooks import (
    Cell,
    id_of,
    read_notebook,
    source_of,
    with_source,
    write_notebook,
)

SIMILAR = 0.6  # of the source of a cell that has lost its id

# the kind of a cell, and its source as it was generated, as its owner has it, and as it would be
MergeSource = Callable[[str, str, str, str], str]


def merge_notebook(file: OpenFile, merge_source: MergeSource) -> tuple[str, list[str]]:
    """The merged text, and the ids of new versions that found no cell: the owner deleted theirs."""
    books = [read_notebook(text) for text in file.texts]
    base, ours, theirs = (book["cells"] if book else [] for book in books)
    old, new = ({id_of(cell): cell for cell in cells} for cells in (base, theirs))
    places = _match(old, new, ours)
    merged: dict[int, list[Cell]] = {place: [cell] for place, cell in enumerate(ours)}
    deleted = []
    for name, place in places.items():
        sides = [source_of(cell) if cell else "" for cell in (old.get(name), new.get(name))]
        source = source_of(ours[place])
        if name not in new and source == sides[0]:
            merged[place] = []
            continue
        text = merge_source(_kind(ours[place]), sides[0], source, sides[1])
        merged[place] = [with_source(ours[place], text)]
    has_ids = any("id" in cell for cell in ours)
    above = -1
    for name, cell in new.items():
        if name in places:
            above = places[name]
        elif name not in old:
            kept = {key: value for key, value in cell.items() if has_ids or key != "id"}
            merged.setdefault(above, []).append(kept)
        elif source_of(cell) != source_of(old[name]):
            deleted.append(name)
    cells = [cell for place in sorted(merged) for cell in merged[place]]
    return write_notebook({**(books[1] or {}), "cells": cells}, file.texts[1]), deleted


def _kind(cell: Cell) -> str:
    """The ending of a file with such content: commands of IPython are no Python."""
    if cell["cell_type"] != "code":
        return ".md"
    return ".txt" if broken_line(source_of(cell)) else ".py"


def _match(
    old: Mapping[str, Cell], new: Mapping[str, Cell], ours: Sequence[Cell]
) -> dict[str, int]:
    """The places of generated cells in the owner's notebook, by their ids."""
    found: dict[str, int] = {}
    for _, name, place in sorted(_alike(old, new, ours)):
        if name not in found and place not in found.values():
            found[name] = place
    return found


def _alike(
    old: Mapping[str, Cell], new: Mapping[str, Cell], ours: Sequence[Cell]
) -> Iterator[tuple[float, str, int]]:
    """How far each generated cell is from those of the owner's that it may be.

    One whose id is gone may be any that has no generated id, and most of its source.
    """
    generated, known = {**new, **old}, set(map(id_of, ours))
    for name, cell in generated.items():
        for place, own in enumerate(ours):
            if name == id_of(own):
                yield -1, name, place
            elif name in known or id_of(own) in generated:
                continue
            elif own["cell_type"] == cell["cell_type"]:
                ratio = SequenceMatcher(None, source_of(cell), source_of(own)).ratio()
                if ratio >= (SIMILAR if name in old else 1):
                    yield 1 - ratio, name, place
