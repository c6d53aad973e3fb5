"""Translates what an earlier version wrote to the names of this one, before it is merged.

`templates/renames.toml` says what was renamed. It is applied to the generated files and to the
owner's alike, so that an update finds only what has changed besides.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from packaging.version import InvalidVersion, Version

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import template_root
from scaffold.project.pristine import Pristine, read_pristine


@dataclass(frozen=True)
class Renames:
    """What was renamed in one version."""

    before: str  # it holds for projects that an earlier version than this one wrote
    settings: Mapping[str, str]
    values: Mapping[str, Mapping[str, str]]
    words: Mapping[str, str]
    imports: Mapping[str, str]
    patterns: Mapping[str, str]
    moves: Mapping[str, list[str]] = field(default_factory=dict)  # what a file is made of

    def key(self, key: str) -> str:
        """The key of a setting now."""
        for old, new in self.settings.items():
            if key == old or key.startswith(f"{old}."):
                return new + key.removeprefix(old)
        return key


@cache
def load_renames() -> tuple[Renames, ...]:
    """All renames, those of the first version first."""
    path = template_root() / "renames.toml"
    return tuple(Renames(**row) for row in tomllib.loads(path.read_text("utf-8"))["versions"])


def renames_since(version: str) -> list[Renames]:
    """What was renamed after this version."""
    try:
        written = Version(version)
    except InvalidVersion:
        return []
    return [renames for renames in load_renames() if written < Version(renames.before)]


def translate_answers(version: str, answers: Mapping[str, Value]) -> dict[str, Value]:
    """The answers of a project by the keys of this version."""
    translated = dict(answers)
    for renames in renames_since(version):
        translated = {
            renames.key(key): renames.values.get(key, {}).get(str(value), value)
            for key, value in translated.items()
        }
    return translated


def translate_settings(version: str, text: str) -> str:
    """The text of a scaffold.toml with the keys and values of this version."""
    for renames in renames_since(version):
        rows, table = [], ""
        for row in text.split("\n"):
            if header := re.match(r"\s*\[([\w.]+)\]", row):
                table = header[1]
                row = row.replace(f"[{table}]", f"[{renames.key(table)}]")
            elif setting := re.match(r"\s*(\w+)\s*=", row):
                key = f"{table}.{setting[1]}"
                for old, new in renames.values.get(key, {}).items():
                    row = re.sub(rf"""=(\s*)(["']){old}\2""", rf"=\1\g<2>{new}\2", row)
                row = row.replace(setting[1], renames.key(key).rpartition(".")[2], 1)
            rows.append(row)
        text = "\n".join(rows)
    return text


def translate_file(version: str, text: str) -> str:
    """A file of a project with the names of this version."""
    for renames in renames_since(version):
        text = re.sub(_IMPORT, partial(_import, moved=renames.imports), text)
        for pattern, new in renames.patterns.items():
            text = re.sub(pattern, new, text)
        for old, new in renames.words.items():
            text = re.sub(_word(old), new, text)
            if "." not in old and "_" in old:  # as a flag of the script
                flag, now = (f"--{name.replace('_', '-')}" for name in (old, new))
                text = re.sub(rf"{flag}(?![\w-])", now, text)
    return text


def _word(name: str) -> str:
    """A name as a whole; the object of an attribute may be an attribute itself."""
    head = r"(?<!\w)" if "." in name else r"(?:(?<![\w.])|(?<=config\.))"
    return rf"{head}{re.escape(name)}(?!\w)"


_IMPORT = re.compile(r"(?m)^(?P<indent>[ \t]*)from (?P<module>\w+) import (?P<names>[\w, ]+)$")


def _import(found: re.Match[str], moved: Mapping[str, str]) -> str:
    """An import on one line, as one line for each module that its names are in now."""
    modules: dict[str, list[str]] = {}
    for name in found["names"].split(", "):
        plain = name.partition(" as ")[0]
        new = moved.get(f"{found['module']}.{plain}", f"{found['module']}.{plain}")
        module, _, now = new.rpartition(".")
        modules.setdefault(module, []).append(name.replace(plain, now, 1))
    lines = (f"from {module} import {', '.join(names)}" for module, names in modules.items())
    return "\n".join(f"{found['indent']}{line}" for line in lines)


def tell_renames(folder: Path, pristine: Pristine) -> tuple[str, ...]:
    """A note for each setting of a project that has another name now."""
    notes = []
    for renames in renames_since(pristine.version):
        answers = read_pristine(folder).answers
        for key, value in answers.items():
            if not answers.get(f"{key.rpartition('.')[0]}.enabled", True):
                continue  # of a feature that is off
            new, now = renames.key(key), renames.values.get(key, {}).get(str(value), value)
            if (new, now) != (key, value):
                notes.append(f"renamed  {key} = {value} -> {new} = {now}")
        for name in re.findall(r"(?m)^    (\w+): .*=", pristine.files.get("train.py", "")):
            if name in renames.words:
                notes.append(f"renamed  config.{name} -> config.{renames.words[name]}")
    return tuple(notes)
