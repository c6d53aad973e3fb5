"""Gives files that are new, or not edited, the owner's names for what they import."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from scaffold.merge.normalize.renamed_keys import find_renamed_keys
from scaffold.merge.semantics.names import defines, is_test, module_of
from scaffold.merge.source.notebooks import NOTEBOOK
from scaffold.merge.source.statement import PYTHON, split, write_units
from scaffold.merge.source.style import Renames, find_renames, rename_units
from scaffold.merge.source.versions import Versions

# what a test replaces in a module: `patch.multiple(train, main=...)`, and `setattr(train, "main")`
_REPLACED, _READ = r"\bpatch\.multiple\(\s*{}\b[^()]*", r"(?<![\w.])({}(?:\.|, *[\"']))(\w+)\b"


def name_new_files(merged: Mapping[str, str | None], project: Versions) -> dict[str, str]:
    """Files that an update brings, or replaces, with the owner's names for what they import."""
    edited, replaced, new = {}, [], set()
    for name in project.base.keys() | project.theirs.keys():
        path, base = project.place(name), project.base.get(name)
        own = project.ours.get(path, base)
        if own == base and base != project.theirs.get(name):
            replaced.append(path)
            new |= {path} if base is None and not is_test(path) else set()
        elif path.endswith(".py") and base is not None and own is not None and own != base:
            edited[path] = base, own
    files = {path: text for path in replaced if (text := merged.get(path)) is not None}
    files |= {path: _name_keys(files[path], edited) for path in new & files.keys()}
    return {path: follow_renames(path, text, edited) for path, text in files.items()}


def follow_renames(path: str, text: str, edited: Mapping[str, tuple[str, str]]) -> str:
    """A new file, with the owner's names for what it imports from other files.

    `edited` are the Python files that the owner changed, by path: as generated, and theirs.
    """
    if not path.endswith((".py", NOTEBOOK)):
        return text
    table: dict[str, str] = {}
    for other, (base, own) in edited.items():
        module = re.escape(module_of(other).rpartition(".")[2])
        imported = re.findall(rf"from (?:[\w.]*\.)?{module} import (\([^)]*|[^\n]*)", text)
        names = set(re.findall(r"\w+", " ".join(imported)))
        gone = _attributes(base) - _attributes(own)
        if module not in text and not gone & _attributes(text):
            continue
        found = _find_renames(base, own)
        text = _name_methods(text, own, found)
        table |= {name: new for name, new in found.items() if name in names}
        text = name_attributes(text, module, found)
    if not table:
        return text
    if path.endswith(NOTEBOOK):  # words of its text are names, too
        return re.sub(r"\w+", lambda word: table.get(word[0], word[0]), text)
    return write_units(rename_units(split(text, PYTHON), Renames(everywhere=table)))


def _name_keys(text: str, edited: Mapping[str, tuple[str, str]]) -> str:
    """The owner's keys of metrics and the like: "loss" as a key, "val" as the first part of one."""
    for path, (base, own) in edited.items():
        for key, new in {} if is_test(path) else _find_keys(base, own).items():
            old = re.escape(key)
            text = re.sub(rf"([\"']){old}(?=[_/.]\w+\1)", rf"\g<1>{new}", text)
            text = re.sub(rf"(?<=\[)([\"']){old}(?=\1\])", rf"\g<1>{new}", text)
            text = re.sub(rf"([\"']){old}(?=\1 in )", rf"\g<1>{new}", text)
    return text


@lru_cache(maxsize=32)
def _find_keys(base: str, own: str) -> Mapping[str, str]:
    return find_renamed_keys(split(base, PYTHON), split(own, PYTHON))


@lru_cache(maxsize=64)
def _attributes(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\.(\w+)", text))


def _name_methods(text: str, own: str, renames: Mapping[str, str]) -> str:
    """The owner's names of methods and attributes, of objects that are called as in their file."""
    for old, new in renames.items():
        objects = set(re.findall(rf"\b(\w+){re.escape(new)}\b", own)) - {"self"}
        if old.startswith(".") and objects:
            places = rf"\b({'|'.join(sorted(objects))}){re.escape(old)}\b"
            text = re.sub(places, rf"\g<1>{new}", text)
    return text


@lru_cache(maxsize=32)  # the same for each new file
def _find_renames(base: str, own: str) -> Mapping[str, str]:
    return find_renames(split(base, PYTHON), split(own, PYTHON)).everywhere


def name_attributes(text: str, module: str, renames: Mapping[str, str]) -> str:
    """The owner's names in `train.main`, and in what a test replaces.

    As in `setattr(train, "main", ...)` and `mock.patch.multiple(train, main=...)`.
    """
    if not re.search(rf"(?m)^[ \t]*import {module}\b", text):
        return text

    def named(name: str) -> str:
        return renames.get(name, name)

    text = re.sub(
        _REPLACED.format(module),
        lambda call: re.sub(r"\w+(?==)", lambda word: named(word[0]), call[0]),
        text,
    )
    return re.sub(_READ.format(module), lambda found: found[1] + named(found[2]), text)


def find_replaced_name(path: str, code: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """The function of a file that the owner replaced by another one, also in all of a test.

    `code` and `texts` are the file and the test, as they were generated and as they are.
    """
    module = module_of(path).rpartition(".")[2]
    old, new = (_names_of(module, text) for text in texts)
    before, now = code
    gone = [name for name in old - new if defines(before, name) and not defines(now, name)]
    added = [name for name in new if defines(now, name) and not defines(before, name)]
    return {gone[0]: added[0]} if len(gone) == len(added) == 1 else {}


def _names_of(module: str, text: str) -> set[str]:
    """The names of a module that a test reads or replaces."""
    calls = " ".join(re.findall(_REPLACED.format(module), text))
    read = {name for _, name in re.findall(_READ.format(module), text)}
    return read | {*re.findall(r"\w+(?==)", calls)}
