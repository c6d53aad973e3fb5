"""Finds regions of a file that merge as text but not as code: the owner has to resolve them."""

import re
from collections.abc import Iterator, Sequence

from scaffold.merge.diff.assemble import Clash, Weave, choose, choose_mine
from scaffold.merge.diff.hunks import find_clashes, their_changes
from scaffold.merge.diff.triple import Region
from scaffold.merge.guards.changed_blocks import find_misplaced
from scaffold.merge.guards.name_clashes import find_taken
from scaffold.merge.guards.reverted_edits import find_undone
from scaffold.merge.guards.split_loops import find_torn
from scaffold.merge.guards.stale_reads import find_stale
from scaffold.merge.model import OpenFile, mended_text
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.semantics.imports import comes_with_all
from scaffold.merge.semantics.names import (
    UNDEFINED,
    UNUSED_VARIABLE,
    Fault,
    find_faults,
)
from scaffold.merge.source.parse import parse
from scaffold.merge.source.statement import PYTHON, TOML, Unit
from scaffold.merge.source.write import write_units


def settle(file: OpenFile) -> None:
    """Find the regions of a file whose merge would break its code."""
    if file.kind == TOML:
        _settle_toml(file)
    if file.kind != PYTHON:
        return
    # generated code has no faults: the owner's are not caused by the merge
    before = find_faults(file.texts[1])
    woven = file.woven
    file.doubts |= dict.fromkeys(find_undone(woven), "")
    for fault in find_taken(woven.base, woven.mine.units, woven.theirs.units):
        doubt(file, fault)
    file.doubts |= dict((*find_torn(woven), *find_stale(woven)))
    for _ in range(8):
        pieces = file.woven.merge(file.doubts)
        open_regions = [piece.region for piece in pieces if isinstance(piece, Clash)]
        moving = [
            region
            for region in _moving(file, choose_mine(pieces), open_regions)
            if region not in file.doubts
        ]
        if moving:
            file.doubts |= dict.fromkeys(moving, "it would end up in another block")
            continue
        # with the owner's side of all conflicts, nothing else may need the other side
        text = write_units(choose_mine(pieces)) if open_regions else mended_text(file, pieces)
        new = [
            fault
            for fault in find_faults(text)
            if fault not in before
            and not comes_with_all(fault, *file.texts[1:])
            and not _is_left_over(file, fault)
        ]
        if open_regions:
            new = [fault for fault in new if fault.kind == UNDEFINED]
        known = set(file.doubts)
        for fault in new:
            doubt(file, fault)
        if not new or (open_regions and known == set(file.doubts)):
            break
    if any(isinstance(piece, Clash) for piece in file.woven.merge(file.doubts)):
        _balance(file)


def _is_left_over(file: OpenFile, fault: Fault) -> bool:
    """Whether a variable that all three versions set in the same way is no longer used.

    Its owner took out some lines that use it, and the update the others: what sets it may stay.
    """
    if fault.kind != UNUSED_VARIABLE:
        return False
    sides = [
        {
            unit.same
            for unit in units
            if not unit.is_comment and fault.name in effects_of(unit.text.strip()).binds
        }
        for units in (file.woven.base, file.woven.mine.units, file.woven.theirs.units)
    ]
    return sides[0] == sides[1] == sides[2]


def _moving(
    file: OpenFile, units: Sequence[Unit], open_regions: Sequence[Region]
) -> Iterator[Region]:
    """The other side's changes that put lines into other blocks, apart from those in conflict."""
    misplaced = [
        number
        for number in find_misplaced(file.woven, units)
        if not any(start <= number <= end for start, end in open_regions)
    ]
    for region in their_changes(file.woven):
        if any(region[0] <= number <= region[1] for number in misplaced):
            yield region


def _balance(file: OpenFile) -> None:
    """Extend each conflict until the file is valid Python with either side."""
    last = len(file.woven.base) + 1
    for _ in range(40):
        grown = False
        for start, end in find_clashes(file.woven, file.doubts):
            if not all(_can_be_read(file, (start, end), theirs) for theirs in (False, True)):
                region = max(0, start - 1), min(last, end + 1)
                grown = grown or region not in file.doubts
                file.doubts.setdefault(region, "")
        if not grown:
            return


def _can_be_read(file: OpenFile, region: Region, theirs: bool) -> bool:
    """Whether the file is Python with this side in one region and the owner's in the others."""
    units = choose(
        file.woven.merge(file.doubts),
        lambda clash: clash.theirs if theirs and clash.region == region else clash.mine,
    )
    try:
        parse(write_units(units))
    except SyntaxError:
        return False
    return True


def _settle_toml(file: OpenFile) -> None:
    import tomllib

    pieces = file.woven.merge()
    if any(isinstance(piece, Clash) for piece in pieces):
        return
    try:
        tomllib.loads(file.texts[1])
        tomllib.loads(write_units(choose_mine(pieces)))
    except tomllib.TOMLDecodeError:
        for region in their_changes(file.woven):
            file.doubts[region] = "the merged file would not be valid TOML"


def doubt(file: OpenFile, fault: Fault) -> None:
    """Doubt the changes that cause a fault: those that contain its name, or else all."""
    changes = their_changes(file.woven)
    if not fault.name:
        for region in changes:
            pieces = file.woven.merge({*file.doubts, region})
            if fault not in find_faults(mended_text(file, pieces)):
                file.doubts[region] = str(fault)
                return
    named = [
        region for region in changes if fault.name and _mentions(file.woven, region, fault.name)
    ]
    fresh = [region for region in named if not file.doubts.get(region)]
    for region in fresh or changes:
        file.doubts[region] = str(fault)


def _mentions(woven: Weave, region: Region, name: str) -> bool:
    start, end = region
    units = list(woven.base[start:end])
    for number in range(start, end + 1):
        units += [woven.theirs.units[place] for place in woven.theirs.inserts[number]]
        unit = woven.theirs.of(number) if number < end else None
        units += [unit] if unit else []
    word = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\b")
    return any(word.search(unit.text) for unit in units)
