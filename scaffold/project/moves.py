"""Finds rendered files that their owner has moved."""

import ast
import difflib
import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from scaffold.project.aside import is_aside
from scaffold.project.pristine import Pristine
from scaffold.project.read import read_texts

SIMILAR = 0.6  # the share of common lines or statements above which a file counts as moved


def follow_moves(folder: Path, pristine: Pristine) -> Pristine:
    """The render with all files that its owner moved, even after the last update."""
    missing = [name for name in pristine.files if not _exists(folder, pristine.place(name))]
    if not missing:
        return pristine
    places = [pristine.place(name) for name in pristine.files]
    texts = read_texts(
        folder, [*places, *pristine.files], {PurePosixPath(name).suffix for name in missing}
    )
    moved = {**pristine.moved, **find_moved(pristine, texts)}
    return replace(pristine, moved={name: at for name, at in moved.items() if name != at})


def _exists(folder: Path, name: str) -> bool:
    return os.path.lexists(folder / name)


def find_moved(pristine: Pristine, texts: Mapping[str, str]) -> dict[str, str]:
    """The new paths of rendered files that are missing from their places.

    `texts` are the project's, by path, as `read_texts` returns them. A file counts as the moved one
    if it has the same suffix and most lines in common; it can stand for one file only. A file that
    was moved back has its own path.
    """
    missing = [name for name in pristine.files if pristine.place(name) not in texts]
    found = {name: name for name in missing if name in texts and _is_back(pristine, name, texts)}
    taken = {*pristine.files, *(pristine.place(name) for name in pristine.files)}
    lines: dict[str, list[str]] = {}
    statements: dict[str, list[str]] = {}
    pairs = []
    for name in missing:
        if name in found or not pristine.files[name].strip():
            continue  # an empty file looks like any other
        path = PurePosixPath(name)
        # the lines of the second text are counted once, for all first ones
        matcher = difflib.SequenceMatcher(None, [], _split(pristine.files[name]))
        rewritten = difflib.SequenceMatcher(None, [], _statements(pristine.files[name], path))
        for other, text in texts.items():
            place = PurePosixPath(other)
            if other in taken or place.suffix != path.suffix:
                continue
            if other not in lines:
                lines[other], statements[other] = _split(text), _statements(text, place)
            matcher.set_seq1(lines[other])
            ratio = 0.0
            if matcher.real_quick_ratio() >= SIMILAR and matcher.quick_ratio() >= SIMILAR:
                ratio = matcher.ratio()
            if ratio < SIMILAR and statements[other]:  # its code may stand in methods now
                rewritten.set_seq1(statements[other])
                ratio = rewritten.quick_ratio()
            if ratio >= SIMILAR:
                pairs.append((-ratio, place.name != path.name, name, other))
    for _, _, name, other in sorted(pairs):
        if name not in found and other not in found.values():
            found[name] = other
    return found


def follow_siblings(pristine: Pristine, names: Collection[str]) -> dict[str, str]:
    """The paths of new modules, by their names: where most modules of their folder went."""
    found = {}
    for name in names:
        path = PurePosixPath(name)
        if name in pristine.files or name in pristine.moved or path.suffix != ".py":
            continue
        folders = Counter(
            PurePosixPath(pristine.place(other)).parent
            for other in pristine.files
            if PurePosixPath(other).parent == path.parent and other.endswith(".py")
        )
        folder, number = folders.most_common(1)[0] if folders else (path.parent, 0)
        if folder != path.parent and number > folders.total() / 2:
            found[name] = str(folder / path.name)
    return found


def _is_back(pristine: Pristine, name: str, texts: Mapping[str, str]) -> bool:
    """Whether the file at the path of a rendered one is that file, and not the owner's own one."""
    if not is_aside(name, pristine.place(name)):
        return True
    pair = _split(pristine.files[name]), _split(texts[name])
    return difflib.SequenceMatcher(None, *pair).ratio() >= SIMILAR


def _statements(text: str, path: PurePosixPath) -> list[str]:
    """The statements of Python code, whatever their layout, and whether in a function or a method.

    Nothing for other files, and for code that is not valid.
    """
    try:
        tree = ast.parse(text) if path.suffix == ".py" else None
    except (SyntaxError, ValueError):
        tree = None
    rows = ast.unparse(tree).splitlines() if tree else []
    return [row.strip().replace("self.", "") for row in rows]


def _split(text: str) -> list[str]:
    """Lines without their newlines: an editor may have changed those too."""
    return text.replace("\r\n", "\n").split("\n")
