"""Follows an owner who renamed settings: `max_batches` in place of `limit_batches`.

The pristine and the new files then read the owner's fields: as attributes of a config, as keyword
arguments of what takes fields, and as keys of dicts that hold nothing but settings. Of settings
that the owner put into a part of Config, they read `config.optim.learning_rate`.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from scaffold.merge.normalize.config_rows import Field, fields_of
from scaffold.merge.semantics.names import is_test
from scaffold.merge.source.parse import fields_in, last_name, nodes_of, tree_of
from scaffold.merge.source.statement import PYTHON, split
from scaffold.merge.source.training import CONFIG, TAKE_FIELDS
from scaffold.merge.source.versions import Versions

ATTRIBUTE, NAME, KEY = "attribute", "name", "key"  # of a config, an argument or a field, a dict


def follow_fields(project: Versions) -> Versions:
    """The project, in which base and theirs have the owner's names of settings."""
    known: set[str] = set()
    renamed: dict[str, str] = {}
    nested: dict[str, str] = {}
    for name, text in project.base.items():
        own = project.ours.get(project.place(name))
        if name.endswith(".py") and f"class {CONFIG}" in text and own is not None:
            before, now = fields_of(split(text, PYTHON)), fields_of(split(own, PYTHON))
            known |= {field.name for field in before}
            renamed |= find_renamed(before, now)
            nested |= _find_nested(own, {field.name for field in before})
    if not renamed and not nested:
        return project
    for name, text in project.theirs.items():
        if name.endswith(".py") and f"class {CONFIG}" in text:
            known |= {field.name for field in fields_of(split(text, PYTHON))}
    base, theirs = dict(project.base), dict(project.theirs)
    for name in (name for name in base.keys() | theirs.keys() if name.endswith(".py")):
        texts = [side[name] for side in (base, theirs) if name in side]
        own = project.ours.get(project.place(name), "")
        if name in base:
            table = _names_that_go(renamed, known, texts, own)
        else:
            table = renamed
            theirs[name] = _name_texts(theirs[name], renamed)
        paths = {} if _attributes(own) & nested.keys() else nested
        for side in (base, theirs):
            if name in side:
                side[name] = name_fields(side[name], paths, known, only=ATTRIBUTE)
                side[name] = name_fields(side[name], table, known)
                if f"class {CONFIG}" in side[name]:
                    gone = {old: new for old, new in renamed.items() if not _says(own, old)}
                    side[name] = name_fields(side[name], renamed, known, only=KEY)
                    side[name] = _name_texts(name_fields(side[name], gone, known), gone)
                if is_test(name):
                    side[name] = _name_words(side[name], renamed, own)
                elif name in base:
                    side[name] = _name_texts(side[name], _renamed_texts(renamed, own))
    base, theirs = (
        {
            name: _name_flags(text, renamed, project.ours.get(project.place(name), ""))
            for name, text in side.items()
        }
        for side in (base, theirs)
    )
    return replace(project, base=base, theirs=theirs)


def _name_words(text: str, renamed: Mapping[str, str], own: str) -> str:
    """A test in whose text the owner replaced all old names of fields, wherever they were."""
    words = set(re.findall(r"\w+", own))
    for old in renamed.keys() - words:
        if renamed[old] in words:
            text = re.sub(rf"\b{old}\b", renamed[old], text)
    return text


def _names_that_go(
    renamed: Mapping[str, str], known: set[str], texts: list[str], own: str
) -> dict[str, str]:
    """The fields after whose renaming no old name is left in a file, nor in that of the owner.

    `style.find_renames` follows others, which are also names of variables and arguments.
    """
    return {
        old: new
        for old, new in renamed.items()
        if not any(
            re.search(rf"\b{old}\b", text)
            for text in (own, *(name_fields(text, {old: new}, known) for text in texts))
        )
    }


def _find_nested(own: str, known: Collection[str]) -> dict[str, str]:
    """The fields that the owner put into other classes, of which Config has an object."""
    classes = {
        node.name: fields_in(node)
        for node in nodes_of(tree_of(own))
        if isinstance(node, ast.ClassDef)
    }
    return {
        name: f"{part}.{name}"
        for part, field in classes.get(CONFIG, ())
        for name, _ in classes.get(ast.unparse(field.annotation), ())
        if name in known
    }


def find_renamed(base: list[Field], ours: list[Field]) -> dict[str, str]:
    """Fields that are gone, with those that stand in their places, of the same type and value."""
    old, new = ({field.name for field in fields} for fields in (base, ours))

    def places(fields: list[Field], both: set[str]) -> dict[tuple[str, str, str], list[str]]:
        found: dict[tuple[str, str, str], list[str]] = {}
        last = ""
        for field in fields:
            if field.name in both:
                last = field.name
            else:
                found.setdefault((last, field.type, field.value), []).append(field.name)
        return found

    gone, added = places(base, old & new), places(ours, old & new)
    pairs = ((names, added.get(place, [])) for place, names in gone.items())
    return {one[0]: two[0] for one, two in pairs if len(one) == len(two) == 1}


def name_fields(text: str, renamed: Mapping[str, str], known: set[str], *, only: str = "") -> str:
    """A file with the new names of fields, or with those in one kind of place.

    `known` are all fields, with their old names.
    """
    if not any(name in text for name in renamed):
        return text
    rows = text.split("\n")
    for line, column, name, kind in sorted(_uses(text, known), reverse=True):
        row = rows[line - 1].encode()
        end = column + len(name.encode())
        if name in renamed and only in ("", kind) and row[column:end] == name.encode():
            rows[line - 1] = (row[:column] + renamed[name].encode() + row[end:]).decode()
    return "\n".join(rows)


def _says(own: str, field: str) -> bool:
    """Whether a file of the owner's has the old name of a field as a text, or as a flag."""
    return bool(re.search(rf"[\"'](--)?{field.replace('_', '[-_]')}[\"']", own))


def _renamed_texts(renamed: Mapping[str, str], own: str) -> dict[str, str]:
    """The fields whose names are texts of their own in a file of the owner's, only the new ones."""
    words = {word for _, word in re.findall(r"([\"'])(\w+)\1", own)}
    return {old: new for old, new in renamed.items() if new in words and old not in words}


def _name_texts(text: str, renamed: Mapping[str, str]) -> str:
    """A file whose flags and other texts are the new names: `--seed`, and "seed" alone.

    What an own parser of the file reads of a flag has its name, too.
    """
    for old, new in renamed.items():
        has_flag = re.search(rf"add_argument\(\s*[\"']--{old.replace('_', '[-_]')}[\"']", text)
        end = r"(?=\1| )" if "_" in old else r"(?=\1)"  # "learning_rate was ..." is no plain word
        text = re.sub(rf"([\"']){old}{end}", rf"\g<1>{new}", text)
        if has_flag:
            text = re.sub(rf"\.{old}\b", f".{new}", text)
    return _name_flags(text, renamed, "")


def _name_flags(text: str, renamed: Mapping[str, str], own: str) -> str:
    """A file with the new names of flags, `--seed`, unless the owner's version has the old one."""
    for old, new in renamed.items():
        for one, two in {old: new, old.replace("_", "-"): new.replace("_", "-")}.items():
            flag = rf"--{one}(?![\w-])"
            text = text if re.search(flag, own) else re.sub(flag, f"--{two}", text)
    return text


def _attributes(text: str) -> set[str]:
    """The fields that a file reads of a config."""
    return {name for _, _, name, kind in _uses(text, set()) if kind == ATTRIBUTE}


def _runs(text: str) -> dict[str, set[str]]:
    """The functions of a test that pass all other arguments on to `run()`, with their own ones:
    `signalled_run(folder, **changes)`."""
    return {
        node.name: {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
        for node in nodes_of(tree_of(text) if "_run(" in text else ast.Module([], []))
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_run") and node.args.kwarg
    }


def _is_config(node: ast.expr) -> bool:
    """Whether a value is one by its name, or by that of what returns it, as in `load_config()`."""
    named = node.func if isinstance(node, ast.Call) else node
    return last_name(named).lower().endswith("config")


def _uses(text: str, known: set[str]) -> Iterator[tuple[int, int, str, str]]:
    """Where fields are named: line, column in bytes, name, and the kind of place."""
    runs = _runs(text)
    for node in nodes_of(tree_of(text)):
        if isinstance(node, ast.Attribute) and _is_config(node.value):
            end = node.end_col_offset or 0
            start = end - len(node.attr.encode())
            yield node.end_lineno or node.lineno, start, node.attr, ATTRIBUTE
        elif isinstance(node, ast.Call) and last_name(node.func) in TAKE_FIELDS | runs.keys():
            for word in node.keywords:
                if word.arg and word.arg not in runs.get(last_name(node.func), ()):
                    yield word.lineno, word.col_offset, word.arg, NAME
        elif isinstance(node, ast.ClassDef) and node.name == CONFIG:
            for name, field in fields_in(node):
                yield field.lineno, field.col_offset, name, NAME
        elif isinstance(node, ast.Dict):
            keys = [key for key in node.keys if isinstance(key, ast.Constant)]
            are_fields = {key.value for key in keys} <= known
            if are_fields and len(keys) == sum(key is not None for key in node.keys):  # None: **
                for key in keys:
                    yield key.lineno, key.col_offset + 1, str(key.value), KEY
