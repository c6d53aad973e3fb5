"""Follows an owner who deleted paragraphs of a generated document, or wrote others in their place.

What an update says differently there is not wanted either. Nothing runs a document, so the two
generated versions go without those lines, and there is nothing to resolve. A new row comes if its
list or table still has others, and the owner has no row of that file.
"""

import re
from dataclasses import replace
from itertools import accumulate, takewhile

from scaffold.merge.diff.mapping import align
from scaffold.merge.source.imports import imports_in
from scaffold.merge.source.matcher import SequenceMatcher
from scaffold.merge.source.statement import Rendered, Statement, Statements, write_units


def follow_own_imports(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """The pristine document with the owner's imports in code that an update replaces, of names that
    the new document does not import: they go with it."""
    own, new = align(base, ours), align(base, theirs)
    gone = [False, *(place is None for place in new.match)]
    known = _imported(base) - _imported(theirs)
    places = {place for place, unit in enumerate(ours) if set() < _imported([unit]) <= known}
    was: list[Statement] = []
    for row, unit in enumerate(base):
        if any(gone[row : row + 2]) and places.issuperset(own.inserts[row]):
            was += [ours[place] for place in own.inserts[row]]
        is_own = gone[row + 1] and own.match[row] in places
        was.append(own.of(row) or unit if is_own else unit)
    return was, list(theirs)


def follow_rows(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """The pristine document with what its owner added to the ends of rows that go, and with the
    lines with which they went on: these go with them."""
    own, new = align(base, ours), align(base, theirs)
    was: list[Statement] = []
    for row, unit in enumerate(base):
        there = own.of(row)
        is_longer = there and there.text.startswith(unit.text.removesuffix("."))
        is_item = unit.text[:1] in "-*|" and not any(new.inserts[row : row + 2])
        if new.of(row) or not there or not (there.key == unit.key or (is_item and is_longer)):
            was.append(unit)
            continue
        more = (ours[place] for place in own.inserts[row + 1])
        was += [there, *takewhile(lambda line: line.margin and not line.blanks, more)]
    return was, list(theirs)


def follow_phrases(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """Both with the owner's words for a phrase of a line that an update replaces, if the phrase is
    once in each, and in what comes instead."""
    own, new = align(base, ours), align(base, theirs)
    was, now = list(base), list(theirs)
    for row, unit in enumerate(base):
        there, start = own.of(row), row
        if new.match[row] is not None or there is None:
            continue
        while start and new.match[start - 1] is None:
            start -= 1
        old, words = _phrase(unit.text, there.text)
        is_one = all(write_units(side).count(old) == 1 for side in (base, theirs))
        for place in new.inserts[start] if is_one and words and len(old.split()) > 1 else ():
            text = now[place].text.replace(old, words)
            if text != now[place].text:
                was[row], now[place] = there, replace(now[place], lines=(text,), key=text)
    return was, now


def _phrase(old: str, new: str) -> tuple[str, str]:
    """The words of a line from the first changed one to the last, and the new ones."""
    one, two = (re.findall(r"\w+|\W", text) for text in (old, new))
    codes = SequenceMatcher(one, two).get_opcodes()
    changes = [code for code in codes if code[0] != "equal"] or codes[:1]
    (_, i, _, x, _), (_, _, j, _, y) = changes[0], changes[-1]
    return "".join(one[i:j]), "".join(two[x:y])


def follow_deleted(base: Statements, ours: Statements, theirs: Statements) -> Rendered:
    """The pristine and the new document without the lines that the owner deleted."""
    own, new = align(base, ours), align(base, theirs)
    deleted = [place is None for place in own.match]
    dropped = {
        place for gone, place in zip(deleted, new.match, strict=True) if gone and place is not None
    }
    parts = [*accumulate(bool(unit.blanks) for unit in theirs)]
    kept = {parts[place] for place in new.number_of.keys() - dropped}
    described = _files(ours) - _files(base)
    around = [True, *deleted, True]
    for gap, places in enumerate(new.inserts):
        titled = any(theirs[place].text.startswith("#") for place in places)
        goes_on = all(_goes_on(theirs[place]) for place in places)
        is_row = any(parts[place] in kept and not theirs[place].margin for place in places)
        goes = goes_on or (around[gap + 1] and not is_row)
        if around[gap] and goes and any(deleted) and not titled:
            dropped |= set(places)
        dropped |= {place for place in places if set() < _files([theirs[place]]) <= described}
    rest = [unit for unit, gone in zip(base, deleted, strict=True) if not gone]
    return rest, [unit for place, unit in enumerate(theirs) if place not in dropped]


def _goes_on(unit: Statement) -> bool:
    """Whether a line continues a paragraph. A row of a table or a list does not."""
    return not unit.blanks and unit.text[:1].isalpha()


def _imported(units: Statements) -> set[str]:
    rows = [unit.text for unit in units if "import" in unit.text]
    return {found.called for row in rows for found in imports_in(row)}


def _files(units: Statements) -> set[str]:
    """What the rows of a table are about: the names in their first cells."""
    cells = (unit.text.split("|")[1] for unit in units if unit.text.startswith("|"))
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
