"""What an update does to the files of a project, computed before anything is written."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scaffold import __version__
from scaffold.answers.catalog import Catalog, Value
from scaffold.answers.resolve import resolve
from scaffold.answers.settings import SETTINGS, toml_literal
from scaffold.cache import remember
from scaffold.errors import AnswerError
from scaffold.merge.conflicts import Conflict
from scaffold.merge.merge import merge_files
from scaffold.merge.source.style import plain_newlines, take_ending
from scaffold.project.answers import complete
from scaffold.project.aside import find_aside, tell_aside
from scaffold.project.changes import Change
from scaffold.project.encoding import UTF_8, decode, encode, encoding_of
from scaffold.project.moves import follow_siblings
from scaffold.project.origin import find_origin
from scaffold.project.pristine import PRISTINE, Pristine, write_pristine
from scaffold.project.read import read_named, read_text, read_texts
from scaffold.project.relocate import move_definitions, move_settings, return_settings
from scaffold.project.renames import tell_renames, translate_file, translate_settings
from scaffold.render.project import render_project


@dataclass(frozen=True)
class Plan:
    """What a command does to a project."""

    answers: Mapping[str, Value]
    changed: Mapping[str, tuple[Value | None, Value | None]]  # answers: before and after, by key
    changes: tuple[Change, ...]  # that of pristine.json is last
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]  # what the owner should know, a sentence each
    warnings: tuple[str, ...]  # what the owner has to look at, a sentence each


def plan_update(
    catalog: Catalog, folder: Path, pristine: Pristine, answers: Mapping[str, Value]
) -> Plan:
    """What an update to these answers does to the files. Raises ScaffoldError."""
    theirs = render_project(catalog, answers, remember)
    options = catalog.settings
    changed = {
        key: (pristine.answers.get(key), value)
        for key, value in answers.items()
        if key in options and pristine.answers.get(key) != value
    }
    found = read_code(folder, {pristine.place(name) for name in (*pristine.files, *theirs)})
    renamed = tell_renames(folder, pristine)
    encodings = {path: encoding_of(path, text) for path, text in found.items()}
    mine = {path: decode(text, encodings[path]) for path, text in found.items()}
    mine = _translate(pristine, mine, pristine.place)
    pristine = replace(pristine, files=_translate(pristine, pristine.files, str))
    pristine, mine = _move_settings(pristine, mine, theirs)
    pristine, aside = _make_room(pristine, mine, _without_settings(theirs))
    causes = _Causes(catalog, pristine, answers, changed)
    merged = merge_files(
        replace(pristine, files=_without_settings(pristine.files)),
        mine,
        _without_settings(theirs),
        causes.name,
    )
    merged.files[pristine.place(SETTINGS)] = _next_settings(
        catalog, pristine, mine, theirs, answers
    )
    after = write_pristine(
        replace(
            pristine,
            version=__version__,
            answers=answers,
            files=theirs,
            moved=_moved(pristine, theirs),
            templates=find_origin().as_table(),
        )
    )
    # other code of the owner, where it uses names that have changed
    others = [(path, mine[path]) for path in sorted(mine) if path not in merged.files]
    texts = {
        path: text and encode(path, text, encodings.get(path, UTF_8))
        for path, text in (*merged.files.items(), *others)
    }
    changes = [
        Change(path, found.get(path), text)
        for path, text in texts.items()
        if found.get(path) != text
    ]
    emptied = sorted(found.keys() - mine.keys())  # its code is in other files now
    changes += [Change(path, found[path], None) for path in emptied if path not in texts]
    before = read_text(folder, PRISTINE) or ""
    if after != plain_newlines(before):
        changes.append(Change(PRISTINE, before, after))
    notes = (*renamed, *merged.notes)
    warnings = (*tell_aside(aside, mine), *merged.warnings)
    return Plan(answers, changed, tuple(changes), tuple(merged.conflicts), notes, warnings)


def read_code(folder: Path, places: Iterable[str]) -> dict[str, str]:
    """The files at these places, and other code and pages of the owner, which may need them."""
    found = {place: text for place in places if (text := read_text(folder, place)) is not None}
    found |= read_texts(folder, (), {".ipynb", ".md", ".py", ".sbatch", ".sh"})
    return found | read_named(folder, found)


def _move_settings(
    pristine: Pristine, mine: dict[str, str], theirs: Mapping[str, str]
) -> tuple[Pristine, dict[str, str]]:
    """The render and the owner's files, with the settings in the file that has them now.

    The owner may have moved them there already.
    """
    if _is_moved("config.py", mine) and "config.py" in theirs.keys() - pristine.files.keys():
        files = move_settings(pristine.files, str)
        if base := files.get("config.py"):
            new = _first_statement(theirs["config.py"])
            files["config.py"] = base.replace(_first_statement(base), new, 1)
        return replace(pristine, files=files), mine
    move = None
    is_there = "config.py" in pristine.files or "config.py" in mine
    has_class = any("class Config" in text for path, text in mine.items() if path.endswith(".py"))
    if "config.py" in theirs and not is_there and has_class:
        move = move_settings
    elif "config.py" in pristine.files and "class Config" in theirs.get("train.py", ""):
        move = return_settings
    if move is None:
        return pristine, mine
    return replace(pristine, files=move(pristine.files, str)), move(mine, pristine.place)


def _is_moved(path: str, mine: Mapping[str, str]) -> bool:
    """Whether this file of the owner's, and no other one, has the class Config."""
    return [name for name, text in mine.items() if "\nclass Config" in text] == [path]


def _first_statement(text: str) -> str:
    """The docstring of a generated module."""
    return ast.get_source_segment(text, ast.parse(text).body[0]) or ""


def _make_room(
    pristine: Pristine, mine: Mapping[str, str], theirs: Mapping[str, str]
) -> tuple[Pristine, dict[str, str]]:
    """The render with the paths of new files, and those among them whose names were taken."""
    followed = follow_siblings(pristine, theirs)
    pristine = replace(pristine, moved={**pristine.moved, **followed})
    aside = find_aside(pristine, mine, theirs)
    return replace(pristine, moved={**pristine.moved, **aside}), aside


def _translate(
    pristine: Pristine, files: Mapping[str, str], place: Callable[[str], str]
) -> dict[str, str]:
    """The files with the names of this version, and each definition where this version has it."""
    settings = pristine.place(SETTINGS)
    translated = {
        path: (
            translate_settings(pristine.version, text)
            if path in (SETTINGS, settings)
            else translate_file(pristine.version, text)
        )
        for path, text in files.items()
    }
    return move_definitions(pristine.version, translated, place)


def _without_settings(files: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in files.items() if name != SETTINGS}


def _moved(pristine: Pristine, theirs: Mapping[str, str]) -> dict[str, str]:
    return {name: path for name, path in pristine.moved.items() if name in theirs}


def _next_settings(
    catalog: Catalog,
    pristine: Pristine,
    mine: Mapping[str, str],
    theirs: Mapping[str, str],
    answers: Mapping[str, Value],
) -> str:
    """The text of scaffold.toml: the owner's, with the new answers in it."""
    own = mine.get(pristine.place(SETTINGS))
    if own is None:
        return theirs[SETTINGS]
    plain, ending = take_ending(own)
    if plain == pristine.files.get(SETTINGS):
        return ending.put_on(theirs[SETTINGS])
    from scaffold.answers.rewrite import rewrite_settings  # importing tomlkit is slow

    return rewrite_settings(
        catalog, own, answers, pristine.answers, rendered=pristine.files.get(SETTINGS)
    )


class _Causes:
    """Names the answer that causes a change; with several answers, each is rendered on its own."""

    def __init__(
        self,
        catalog: Catalog,
        pristine: Pristine,
        answers: Mapping[str, Value],
        changed: Mapping[str, tuple[Value | None, Value | None]],
    ) -> None:
        self.catalog = catalog
        self.pristine = pristine
        self.answers = answers
        self.changed = changed
        self.renders: dict[str, dict[str, str]] | None = None

    def name(self, path: str, text: str) -> str:
        """The cause of a conflict about these lines of a file, as KEY = VALUE."""
        keys = list(self.changed)
        if self.pristine.version != __version__ or len(keys) > 9:
            # settings that are new in this version are not answers that its owner changed
            keys = [key for key, (before, _) in self.changed.items() if before is not None]
        if len(keys) > 1:
            keys = [key for key in keys if self._brings(key, path, text)] or keys
        if not keys:
            return f"scaffold {__version__}"
        return ", ".join(f"{key} = {toml_literal(self.answers[key])}" for key in keys)

    def _brings(self, key: str, path: str, text: str) -> bool:
        """Whether this answer alone adds or removes one of the lines."""
        if self.renders is None:
            self.renders = dict(self._render_each())
        if key not in self.renders:
            return False
        before, after = (
            {row.strip() for row in files.get(path, "").splitlines()}
            for files in (self.pristine.files, self.renders[key])
        )
        rows = {row.strip() for row in text.splitlines() if row.strip()}
        return bool(rows & (before ^ after))

    def _render_each(self) -> Iterator[tuple[str, dict[str, str]]]:
        options = self.catalog.settings
        known = {key: value for key, value in self.pristine.answers.items() if key in options}
        for key in self.changed:
            given = complete(self.catalog, {key: self.answers[key]}, known)
            try:
                yield key, self._render(given, key)
            except AnswerError:  # it works only with the others
                continue

    def _render(self, given: Mapping[str, Value], key: str) -> dict[str, str]:
        answers = resolve(self.catalog, given, {key})
        return render_project(self.catalog, answers, remember)
