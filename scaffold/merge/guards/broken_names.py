"""Finds regions of a file that merge as text but not as code: the owner has to resolve them."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from scaffold.merge.diff.assemble import Assembly, Clash, Piece, choose, choose_ours
from scaffold.merge.diff.hunks import mentions, their_changes, their_parts, with_sources
from scaffold.merge.diff.leaving import adds_to_what_goes, find_users
from scaffold.merge.diff.triple import Hunk, Triple
from scaffold.merge.guards.changed_blocks import find_changed_blocks
from scaffold.merge.guards.copied_code import find_copied_code
from scaffold.merge.guards.element_forms import find_element_forms
from scaffold.merge.guards.lost_attributes import find_lost_attributes
from scaffold.merge.guards.moved_out import find_moved_out
from scaffold.merge.guards.name_clashes import find_name_clashes
from scaffold.merge.guards.own_accumulation import (
    find_counted_batches,
    find_lines_per_batch,
    find_refused_accumulation,
    find_repeated_accumulation,
)
from scaffold.merge.guards.replaced_weights import find_replaced_weights
from scaffold.merge.guards.reverted_edits import find_reverted_edits
from scaffold.merge.guards.split_loops import find_split_loops
from scaffold.merge.guards.stale_reads import find_stale_reads
from scaffold.merge.model import OpenFile, mended_text
from scaffold.merge.semantics.effects import effects_of
from scaffold.merge.semantics.flow import bound_in, read_in
from scaffold.merge.semantics.imports import comes_with_all
from scaffold.merge.semantics.names import (
    UNDEFINED,
    UNREADABLE,
    UNUSED_VARIABLE,
    Fault,
    defines,
    find_faults,
)
from scaffold.merge.source.imports import Import, imports_of
from scaffold.merge.source.parse import parse
from scaffold.merge.source.statement import PYTHON, TOML, Statement, Statements, write_units

# each yields hunks with a reason to ask
GUARDS: tuple[Callable[[Assembly], Iterator[tuple[Hunk, str]]], ...] = (
    find_reverted_edits,
    find_name_clashes,
    find_split_loops,
    find_stale_reads,
    find_element_forms,
    find_replaced_weights,
    find_lost_attributes,
    find_moved_out,
    find_copied_code,
    find_refused_accumulation,
    find_lines_per_batch,
    find_repeated_accumulation,
    find_counted_batches,
)

_UNREADABLE = Fault(UNREADABLE, "")


def verify(file: OpenFile) -> None:
    """Find the regions of a file whose merge would break its code."""
    if file.kind == TOML:
        _verify_toml(file)
    if file.kind != PYTHON:
        return
    for guard in GUARDS:
        file.doubts |= dict(guard(file.assembly))
    for _ in range(8):
        pieces = file.assembly.merge(file.doubts)
        clashes = [piece for piece in pieces if isinstance(piece, Clash)]
        open_hunks = [clash.hunk for clash in clashes]
        moving = [
            hunk
            for hunk in _moving(file, choose_ours(pieces), open_hunks)
            if hunk not in file.doubts
        ]
        if moving:
            file.doubts |= dict.fromkeys(moving, "it would end up in another block")
            continue
        # with the owner's side of all conflicts, nothing else may need the other side
        code = _with_adapted(file, pieces)
        text = write_units(code) if open_hunks else mended_text(file, pieces)
        new = [
            fault for fault in _new_faults(file, text) if not comes_with_all(fault, *file.texts[1:])
        ]
        if open_hunks and _UNREADABLE in new and _balance(file):
            continue
        if open_hunks:
            kept = find_faults(write_units(choose_ours(pieces)))  # with what only logs, too
            new = [
                fault
                for fault in new
                if _is_of_owner(file, fault) and (fault in kept or fault.kind != UNUSED_VARIABLE)
            ]
            lost = _lost_imports(file)
            needed = {
                f.name for f in new if f.name in lost and _is_there(lost[f.name], file.modules)
            }
            if needed:
                file.assembly.needed |= needed
                continue
            # what goes is asked about where it is used
            elsewhere = find_faults(write_units(choose(pieces, lambda clash: clash.theirs)))
            new = [fault for fault in new if fault.name not in lost or fault in elsewhere]
        grew = _doubt_all(file, new, clashes)
        if not new or (open_hunks and not grew):
            break
    if _is_open(file):
        _balance(file)
        _name_uncalled(file)
    elif _UNREADABLE in _new_faults(file, _merged(file)):
        file.doubts = {(0, len(file.assembly.base) + 1): UNREADABLE}  # the file as a whole


def _with_adapted(file: OpenFile, pieces: Sequence[Piece]) -> list[Statement]:
    """The file with the owner's side of all conflicts, and with lines that an update only adds and
    that read what the owner renamed or replaced: whoever wants the feature adapts them."""
    asked = [piece for piece in pieces if isinstance(piece, Clash)]
    brought = {name for clash in asked for unit in clash.theirs for name in effects_of(unit).binds}

    def side(clash: Clash) -> Sequence[Statement]:
        reason = file.doubts.get(clash.hunk, "")
        name = reason.partition(" ")[0]
        to_adapt = reason == UNDEFINED.format(name=name) and name not in brought
        is_added = not clash.ours and not clash.base
        return clash.theirs if clash.is_alone or (is_added and to_adapt) else clash.ours

    return choose(pieces, side)


def _name_uncalled(file: OpenFile) -> None:
    """Say in conflicts about functions that the update takes out all calls of them."""
    pieces = file.assembly.merge(file.doubts)
    read = read_in(file.assembly.ours.units) - read_in(choose_ours(pieces))
    for clash in (piece for piece in pieces if isinstance(piece, Clash)):
        for name in sorted(read & {unit.defined for unit in clash.ours}):
            file.doubts.setdefault(clash.hunk, f"nothing calls {name} any more")


def _doubt_all(file: OpenFile, faults: Sequence[Fault], clashes: Sequence[Clash]) -> bool:
    """Doubt what causes faults. Whether there is more to ask about now."""
    known = set(file.doubts)
    using = {fault.name: _only_used(file, fault, clashes) for fault in faults}
    leaving = {name for name, hunks in using.items() if hunks is not None}
    if not leaving <= file.assembly.leaving:
        file.assembly.leaving |= leaving  # other faults may come from these lines
        return True
    for fault in faults:
        if (hunks := using[fault.name]) is None:
            doubt(file, fault)
        else:
            file.doubts |= hunks
    return known != set(file.doubts)


def _new_faults(file: OpenFile, text: str) -> list[Fault]:
    """The faults of the merged text, without those that one of the sides has."""
    found = find_faults(text)
    return [
        fault
        for fault in found
        if fault not in find_faults(file.texts[1]) and fault not in find_faults(file.texts[2])
    ]


def _is_of_owner(file: OpenFile, fault: Fault) -> bool:
    """Whether a fault counts with the owner's side of conflicts: what they bind has to be used."""
    if fault.kind == UNUSED_VARIABLE:
        return fault.name in bound_in(file.assembly.ours.units)
    return fault.kind == UNDEFINED


def _only_used(file: OpenFile, fault: Fault, clashes: Sequence[Clash]) -> dict[Hunk, str] | None:
    """The owner's new lines that use a name which goes, if no other line needs it.

    There are none of a list or dict that goes, and to which the owner only added something.
    """
    if fault.kind == UNUSED_VARIABLE:
        lists = [row for row in clashes if not row.theirs]
        adds = (adds_to_what_goes(row.base, row.ours, [fault.name]) for row in lists)
        return {} if any(adds) else None
    side, name = file.assembly.ours, fault.name
    gaps = {*side.gap_of.values()} if fault.kind == UNDEFINED else ()
    reading = {gap: new for gap in gaps if name in read_in(new := side.new(gap))}
    users = [units[row] for units in reading.values() for row in find_users(units, [name])]
    asked = [clash for clash in clashes if name in read_in(clash.ours)]
    hunks = [*(clash.hunk for clash in asked), *((gap, gap) for gap in reading)]
    hunks += [
        (number, number + 1)
        for number, unit in enumerate(file.assembly.base)
        if (own := side.of(number))
        and file.assembly.theirs.of(number)
        and own.same != unit.same
        and name in effects_of(own).reads
    ]
    shown = {unit.origin for clash in clashes for unit in clash.ours}
    rest = [
        unit
        for place, unit in enumerate(side.units)
        if unit not in users and file.assembly.origin(side, place) not in shown
    ]
    if not hunks or not _is_gone(file.assembly, name) or bound_in(users) & read_in(rest):
        return None
    return dict.fromkeys(hunks, str(fault))


def _is_gone(triple: Triple, name: str) -> bool:
    """Whether a variable of the base is nowhere in the other side."""
    units = [unit for unit in triple.base if not (unit.defined or imports_of(unit))]
    left = triple.theirs.units
    return name in bound_in(units) and name not in read_in(left) | bound_in(left)


def _lost_imports(file: OpenFile) -> dict[str, Import]:
    """What the owner imports, and the merged file does not, by name."""
    merged = choose_ours(file.assembly.merge(file.doubts))
    own, left = (
        {row for unit in units for row in imports_of(unit)}
        for units in (file.assembly.ours.units, merged)
    )
    return {row.called: row for row in own - left}


def _is_there(row: Import, modules: Mapping[str, str | None]) -> bool:
    """Whether an import finds what it names: in a package, or in the project after the update."""
    if row.module not in modules:
        return not row.level
    text = modules[row.module]
    return text is not None and (not row.name or defines(text, row.name))


def _is_open(file: OpenFile) -> bool:
    """Whether there is a conflict in a file."""
    return any(isinstance(piece, Clash) for piece in file.assembly.merge(file.doubts))


def _merged(file: OpenFile) -> str:
    return mended_text(file, file.assembly.merge(file.doubts))


def _moving(file: OpenFile, units: Statements, open_hunks: Sequence[Hunk]) -> Iterator[Hunk]:
    """The other side's changes that put lines into other blocks, apart from those in conflict."""
    misplaced = [
        number
        for number in find_changed_blocks(file.assembly, units)
        if not any(start <= number <= end for start, end in open_hunks)
    ]
    for hunk in their_changes(file.assembly):
        if any(hunk[0] <= number <= hunk[1] for number in misplaced):
            yield hunk


def _balance(file: OpenFile) -> bool:
    """Extend each conflict until the file is valid Python with either side. Whether one grew."""
    last, before = len(file.assembly.base) + 1, len(file.doubts)
    for _ in range(40):
        known = len(file.doubts)
        for start, end in file.assembly.clashes(file.doubts):
            if not all(_can_be_read(file, (start, end), theirs) for theirs in (False, True)):
                file.doubts.setdefault((max(0, start - 1), min(last, end + 1)), "")
        if known == len(file.doubts):
            break
    return len(file.doubts) > before


def _can_be_read(file: OpenFile, hunk: Hunk, theirs: bool) -> bool:
    """Whether the file is Python with this side in one region and the owner's in the others."""
    units = choose(
        file.assembly.merge(file.doubts),
        lambda clash: clash.theirs if theirs and clash.hunk == hunk else clash.ours,
    )
    try:
        parse(write_units(units))
    except SyntaxError:
        return False
    return True


def _verify_toml(file: OpenFile) -> None:
    import tomllib

    pieces = file.assembly.merge()
    if any(isinstance(piece, Clash) for piece in pieces):
        return
    try:
        tomllib.loads(file.texts[1])
        tomllib.loads(write_units(choose_ours(pieces)))
    except tomllib.TOMLDecodeError:
        for hunk in their_changes(file.assembly):
            file.doubts[hunk] = "the merged file would not be valid TOML"


def _defines(triple: Triple, number: int, name: str) -> bool:
    return number < len(triple.base) and triple.base[number].defined == name


def doubt(file: OpenFile, fault: Fault) -> None:
    """Doubt the changes that cause a fault: those that contain its name, or else all."""
    needed = changes = their_changes(file.assembly)
    if not fault.name:
        for hunk in reversed(changes):  # those without which it would stay
            fewer = [other for other in needed if other != hunk]
            pieces = file.assembly.merge({*file.doubts, *fewer})
            if fault not in find_faults(mended_text(file, pieces)):
                needed = fewer
        file.doubts |= dict.fromkeys(needed, str(fault))
        return
    may_be_attribute = fault.kind != UNDEFINED
    parts = [
        (hunk, part[0])
        for hunk in changes
        for part in their_parts(file.assembly, hunk)
        if mentions(file.assembly, part, fault.name, may_be_attribute)
    ]
    # other functions that call a deleted one may go without it
    defining = [row for row in parts if _defines(file.assembly, row[1], fault.name)]
    named = [with_sources(file.assembly, *row) for row in defining or parts]
    if file.path == fault.source:  # which lost the name: where it was defined
        base = file.assembly.base
        defined = {row for row, unit in enumerate(base) if fault.name in effects_of(unit).binds}
        named = [hunk for hunk in named if defined & {*range(*hunk)}] or named
    fresh = [hunk for hunk in named if not file.doubts.get(hunk)]
    if named and not fresh and _is_open(file):
        return  # they are conflicts already: the others have nothing to do with it
    for hunk in fresh or changes:
        file.doubts[hunk] = str(fault)
