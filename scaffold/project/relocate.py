"""Brings the definitions of an earlier version to the files that have them in this one."""

import ast
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePosixPath

from scaffold.project.renames import renames_since


@dataclass(frozen=True)
class _Block:
    """A statement at the top of a module, with the comments and blank lines above it."""

    name: str  # of what it defines; empty for an import, a docstring or anything else
    is_import: bool
    text: str


def move_definitions(
    version: str, files: Mapping[str, str], place: Callable[[str], str]
) -> dict[str, str]:
    """The files of a project, each definition in the file in which this version has it.

    `place` says where a file of the render is now. A file that can't be read as Python, or a new
    file whose name the owner has taken, leaves all as it was.
    """
    moved = dict(files)
    for renames in renames_since(version):
        for target, rules in renames.moves.items():
            try:
                moved = _fill(moved, target, rules, place)
            except SyntaxError:
                return dict(files)
    return moved


def move_settings(files: Mapping[str, str], place: Callable[[str], str]) -> dict[str, str]:
    """The files with the settings of train.py in config.py, where the complete loop has them."""
    try:
        return _fill(files, "config.py", ["train.Config"], place)
    except SyntaxError:
        return dict(files)


def return_settings(files: Mapping[str, str], place: Callable[[str], str]) -> dict[str, str]:
    """The files with the settings of config.py in train.py, where the minimal loop has them."""
    paths = place("config.py"), place("train.py")
    if not files.keys() >= {*paths}:
        return dict(files)
    try:
        config, train = (list(_split(files[path])) for path in paths)
    except SyntaxError:
        return dict(files)
    found = [block for block in config if block.name == "Config"]
    if not found or any(block.name == "Config" for block in train):
        return dict(files)
    taken = [*_needed_by([("", block) for block in found], config), *found]
    code = "".join(block.text for block in taken)
    heads = [row for block in config if block.is_import for row in _needed(block.text, code)]
    names = {block.name for block in taken}
    rows = [replace(block, text=_without(block, "config", names)) for block in train]
    for head in dict.fromkeys(heads):
        _insert_import(rows, head, _modules(files))
    last = max((n for n, block in enumerate(rows) if block.is_import), default=-1) + 1
    rows.insert(last, _Block("", False, code))
    left = "".join(block.text for block in config if block not in taken)
    return {**files, paths[0]: left, paths[1]: "".join(block.text for block in rows)}


def _modules(files: Mapping[str, str]) -> set[str]:
    return {PurePosixPath(path).stem for path in files}


def _insert_import(blocks: list[_Block], head: str, modules: Collection[str]) -> None:
    """Put an import where it belongs among those of a module, by sections and names."""
    wanted = _import_key(head, modules)
    places = [n for n, block in enumerate(blocks) if block.is_import and block.text]
    below = next((n for n in places if _import_key(blocks[n].text, modules) > wanted), None)
    if below is None:
        blocks.insert(places[-1] + 1 if places else 0, _Block("", True, head))
        return
    text = blocks[below].text.lstrip("\n")
    gap = blocks[below].text.removesuffix(text)
    above = [n for n in places if n < below]
    if not above or _import_key(blocks[above[-1]].text, modules)[0] < wanted[0]:
        head = gap + head  # it is the first one of its section now
    if _import_key(text, modules)[0] == wanted[0]:
        blocks[below] = replace(blocks[below], text=text)
    blocks.insert(below, _Block("", True, head))


def _import_key(text: str, modules: Collection[str]) -> tuple[int, bool, str]:
    """The section of an import, whether it is one of names, and the module."""
    node = ast.parse(text).body[-1]
    assert isinstance(node, ast.Import | ast.ImportFrom)
    is_from = isinstance(node, ast.ImportFrom)
    name = (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
    root = name.partition(".")[0]
    section = 0 if root in sys.stdlib_module_names else 2 if root in modules else 1
    return section, is_from, name.lower()


def _without(block: _Block, module: str, names: Collection[str]) -> str:
    """The text of a block, without these names if it imports from a module. Its comments stay."""
    node = ast.parse(block.text).body[-1] if block.is_import else None
    if not isinstance(node, ast.ImportFrom) or node.module != module:
        return block.text
    node.names = [alias for alias in node.names if alias.asname or alias.name not in names]
    above = block.text.splitlines(keepends=True)[: node.lineno - 1]
    if not node.names:
        return "".join(row for row in above if row.strip())
    return "".join([*above, f"{ast.unparse(node)}\n"])


def _fill(
    files: Mapping[str, str], target: str, rules: Sequence[str], place: Callable[[str], str]
) -> dict[str, str]:
    """The files with one more, made of what the rules `module.name` and `module.*` name."""
    sources = {rule.partition(".")[0]: "" for rule in rules}
    blocks: dict[str, list[_Block]] = {}
    for module in sources:
        text = files.get(place(f"{module}.py"))
        blocks[module] = [] if text is None else list(_split(text))
    if not any(block.name for rows in blocks.values() for block in rows):
        return dict(files)
    own = place(target)
    if own in files and f"{target.removesuffix('.py')}" not in sources:
        return dict(files)
    taken: list[tuple[str, _Block]] = []
    for rule in rules:
        module, _, name = rule.partition(".")
        known = [block for _, block in taken]
        taken += [
            (module, block)
            for block in blocks[module]
            if block.name and name in ("*", block.name) and block not in known
        ]
    if not taken:
        return dict(files)
    parts = [(module, part) for module in sources for part in _needed_by(taken, blocks[module])]
    taken[:0] = parts
    changed = dict(files)
    gone = {module: [block for source, block in taken if source == module] for module in sources}
    for module, rows in gone.items():
        path = place(f"{module}.py")
        if not rows or path == own:
            continue
        left = [block for block in blocks[module] if block not in rows]
        if any(block.name for block in left):
            names = [part.name for _, part in parts if any(_uses(b.text, part.name) for b in left)]
            if names:
                head = f"from {target.removesuffix('.py')} import {', '.join(names)}\n"
                _insert_import(left, head, _modules(files))
            changed[path] = _without_unused(left, "".join(block.text for block in rows))
        else:
            del changed[path]
    first = next(iter(sources))
    has_moved = place(f"{first}.py") not in changed.keys() - {own}
    docs = [block.text for block in blocks[first][:1] if has_moved and not block.is_import]
    code = "".join(block.text for _, block in taken)
    heads = [block.text for module in sources for block in blocks[module] if block.is_import]
    imports = dict.fromkeys(row for head in heads for row in _needed(head, code))
    changed[own] = "".join([*docs, "\n", _in_sections(imports, _modules(files)), code])
    return changed


def _in_sections(imports: Collection[str], modules: Collection[str]) -> str:
    """Sorted imports, with a blank line between Python's, other ones and those of the project."""
    rows = sorted((_import_key(head, modules), head) for head in imports)
    sections = groupby(rows, key=lambda row: row[0][0])
    return "\n".join("".join(head for _, head in section) for _, section in sections)


def _without_unused(blocks: Sequence[_Block], gone: str) -> str:
    """The code of a module without imports that only what is gone used. Their comments stay."""
    rest = "".join(block.text for block in blocks if not block.is_import)
    out = ""
    for block in blocks:
        is_gone = block.is_import and any(_needed(block.text, gone))
        rows = block.text.splitlines(keepends=True)
        if is_gone and not any(_needed(block.text, rest)):
            rows = [row for row in rows if row.startswith("#")]
        out += "".join(rows)
    return out


def _needed_by(taken: Sequence[tuple[str, _Block]], blocks: Sequence[_Block]) -> list[_Block]:
    """The other classes of a module that these definitions use: an owner's settings in parts."""
    found = [block for _, block in taken]
    for block in (block for _ in blocks for block in blocks):  # each may need others in turn
        is_class = re.search(r"(?m)^class ", block.text)
        if is_class and block not in found and any(_uses(row.text, block.name) for row in found):
            found.append(block)
    more = found[len(taken) :]
    return [block for block in blocks if block in more]


def _uses(code: str, name: str) -> bool:
    """Whether code reads a name, also in a quoted hint, but not in a comment or another text."""
    if not re.search(rf"\b{re.escape(name)}\b", code):
        return False
    nodes = list(ast.walk(ast.parse(code)))
    hints = (getattr(node, field, None) for node in nodes for field in ("annotation", "returns"))
    quoted = (
        row for hint in hints if hint for row in ast.walk(hint) if isinstance(row, ast.Constant)
    )
    read = (row for row in nodes if isinstance(row, ast.Name) and isinstance(row.ctx, ast.Load))
    return any(row.id == name for row in read) or any(
        re.search(rf"\b{re.escape(name)}\b", str(row.value)) for row in quoted
    )


def _needed(head: str, code: str) -> Iterator[str]:
    """An import of the names that the code uses."""
    [node] = ast.parse(head).body
    assert isinstance(node, ast.Import | ast.ImportFrom)
    used = [
        alias for alias in node.names if _uses(code, (alias.asname or alias.name).split(".")[0])
    ]
    if used:
        node.names = used
        yield f"{ast.unparse(node)}\n"


def _split(text: str) -> Iterator[_Block]:
    """The statements of a module."""
    lines = text.splitlines(keepends=True)
    end = 0
    for node in ast.parse(text).body:
        last = node.end_lineno or len(lines)
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        yield _Block(_name(node), is_import, "".join(lines[end:last]))
        end = last


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""
