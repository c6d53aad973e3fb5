"""Brings base and theirs of each file into the form that its owner gave it: the rules, in order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from scaffold.merge.diff.named_parts import follow_own_names
from scaffold.merge.model import OpenFile
from scaffold.merge.normalize.config_rows import follow_field_form
from scaffold.merge.normalize.documents import (
    follow_deleted,
    follow_own_imports,
    follow_phrases,
    follow_rows,
)
from scaffold.merge.normalize.extracted.follow import follow_extracted
from scaffold.merge.normalize.imports import follow_imports
from scaffold.merge.normalize.new_files import find_replaced_name, name_attributes
from scaffold.merge.normalize.order import follow_order
from scaffold.merge.normalize.output_calls import follow_output_calls
from scaffold.merge.normalize.renamed_keys import follow_keys
from scaffold.merge.semantics.names import defines, module_of
from scaffold.merge.source import style
from scaffold.merge.source.statement import (
    DOCUMENTS,
    PYTHON,
    Rendered,
    Statement,
    Statements,
    split,
    write_units,
)

# base, ours and theirs -> base and theirs in the owner's form
Rule = Callable[[Statements, Statements, Statements], Rendered]
IsRenamed = Callable[[str, str, str], bool]  # whether a module has a name in place of another

SPELLING: tuple[Rule, ...] = (follow_field_form, follow_imports, follow_keys, follow_output_calls)
PLACES: tuple[Rule, ...] = (follow_own_names, follow_order)
PAGES: tuple[Rule, ...] = (follow_own_imports, follow_rows, follow_phrases, follow_deleted)


def normalize_files(files: Sequence[OpenFile], ours: Mapping[str, str]) -> None:
    """Set the statements of each file: layout, spelling, definitions, names, then places."""
    modules = {module_of(path): text for path, text in ours.items() if path.endswith(".py")}

    def is_renamed(module: str, old: str, new: str) -> bool:
        return defines(modules.get(module, ""), new) and not defines(modules[module], old)

    python = [file for file in files if file.kind == PYTHON]
    for file in python:
        before, now = (split(text, PYTHON) for text in file.texts[:2])
        file.layout = style.find_layout(before, now, file.texts[1])
    _agree_on_width(python)
    for file in files:
        file.units = tuple(split(text, file.kind) for text in file.texts)
    for file in python:
        _spell(file, is_renamed)
    _name_attributes(python)
    _spread_renames(python)
    for file in files:
        base, own, theirs = file.units
        base, theirs = (style.rename_units(side, file.renames) for side in (base, theirs))
        pages = PAGES if file.path.endswith(DOCUMENTS) else ()
        file.units = _apply(PLACES if file.kind == PYTHON else pages, (base, own, theirs))


def _apply(
    rules: Sequence[Rule], units: tuple[list[Statement], ...]
) -> tuple[list[Statement], ...]:
    base, own, theirs = units
    for rule in rules:
        base, theirs = rule(base, own, theirs)
    return base, own, theirs


def _spell(file: OpenFile, is_renamed: IsRenamed) -> None:
    """Layout, spelling and definitions, and the names that the owner gave."""
    base, own, theirs = file.texts
    if file.layout:
        base, theirs = file.layout.put_on(base), file.layout.put_on(theirs)
    units = (split(base, PYTHON), file.units[1], split(theirs, PYTHON))
    base_units, own_units, new_units = _apply(SPELLING, units)
    file.renames = _find_renames(base_units, own_units, is_renamed)
    indent = style.find_indent(own)
    followed = follow_extracted(base_units, own_units, new_units, indent, file.renames)
    if followed:
        base_units, new_units = (_laid_out(file, side) for side in followed)
        found = _find_renames(base_units, own_units, is_renamed)
        file.renames = replace(found, everywhere=file.renames.everywhere | found.everywhere)
    file.texts = write_units(base_units), own, write_units(new_units)
    file.units = base_units, own_units, new_units


def _find_renames(base: Statements, own: Statements, is_renamed: IsRenamed) -> style.Renames:
    renames = style.find_renames(base, own)
    style.drop_replaced(renames, base, own, is_renamed)
    return renames


def _name_attributes(files: Sequence[OpenFile]) -> None:
    """What was renamed in a file is so in others that import it whole, as tests do."""
    for other in files:
        module, names = module_of(other.path).rpartition(".")[2], other.renames.everywhere
        for file in files:
            base, own, theirs = file.texts
            table = names | find_replaced_name(other.path, other.texts[:2], file.texts[:2])
            base, theirs = (name_attributes(text, module, table) for text in (base, theirs))
            if (base, own, theirs) != file.texts:
                file.texts = base, own, theirs
                file.units = split(base, PYTHON), file.units[1], split(theirs, PYTHON)


def _spread_renames(files: Sequence[OpenFile]) -> None:
    """A rename in one file is one in the others, too, if the old name is used nowhere."""
    together = {x: y for file in files for x, y in file.renames.everywhere.items()}
    used = {name for file in files if together for name in style.names_in(file.units[1])}
    for file in files:
        for x in together.keys() - used:
            file.renames.everywhere.setdefault(x, together[x])


# layout


def _laid_out(file: OpenFile, units: Statements) -> list[Statement]:
    """Statements that moved into other blocks, formatted as the owner's file is."""
    text = write_units(units)
    layout = file.layout or style.Layout(100, single=False)
    if layout.fits(file.texts[1]):
        file.layout = layout
        text = layout.put_on(text)
    else:
        file.layout = None
    return split(text, PYTHON)


def _agree_on_width(files: Sequence[OpenFile]) -> None:
    """A file may fit several line widths, or show none: it gets the one that fits most files."""
    layouts = [(file, file.layout) for file in files if file.layout]
    if len({layout.width for _, layout in layouts}) < 2:
        return
    fits: dict[int, list[tuple[OpenFile, style.Layout]]] = {}
    for width in {layout.width for _, layout in layouts if layout.width is not None}:
        for file, layout in layouts:
            layout = replace(layout, width=width)
            if layout.fits(file.texts[1]):
                fits.setdefault(width, []).append((file, layout))
    # the width of most files comes last, and stays
    for width in sorted(fits, key=lambda width: (len(fits[width]), -width)):
        for file, layout in fits[width]:
            file.layout = layout


def lay_out_like_others(
    replaced: Sequence[OpenFile], files: Sequence[OpenFile], ours: Mapping[str, str]
) -> dict[str, str]:
    """The new texts of files in which the owner's formatter had nothing to change, by path."""
    layouts = {file.layout for file in files if file.layout}
    if len(layouts) != 1:
        return {}
    (layout,) = layouts
    found = [
        file
        for file in replaced
        if file.kind == PYTHON
        and file.texts[1] == file.texts[0] != file.texts[2]
        and not layout.fits(file.texts[2])
    ]
    code = (style.take_ending(text)[0] for path, text in ours.items() if path.endswith(".py"))
    if layout.width is None or not found or not all(map(layout.fits, code)):
        return {}
    return {file.path: file.ending.put_on(layout.put_on(file.texts[2])) for file in found}
