"""`.scaffold/pristine.json`: what was generated last. Updates and `scaffold diff` start from it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from scaffold.answers.catalog import Value
from scaffold.errors import ScaffoldError

FOLDER = ".scaffold"
PRISTINE = f"{FOLDER}/pristine.json"
ABOUT = "The files as generated. Later updates start from them: commit this file."


@dataclass(frozen=True)
class Pristine:
    """A render, and the files that its owner has moved since."""

    version: str
    answers: Mapping[str, Value]
    files: Mapping[str, str]  # the text of each file, by its path with '/' in it
    moved: Mapping[str, str] = field(default_factory=dict)  # the path now, by that in `files`
    templates: Mapping[str, str] = field(default_factory=dict)  # which ones, as in `origin.py`

    def place(self, name: str) -> str:
        """The path of a rendered file in this project."""
        return self.moved.get(name, name)


def write_pristine(pristine: Pristine) -> str:
    """The text of pristine.json."""
    data = {
        "about": ABOUT,
        "version": pristine.version,
        **({"templates": dict(pristine.templates)} if pristine.templates else {}),
        "answers": dict(pristine.answers),
        "files": dict(pristine.files),
    }
    if pristine.moved:
        data["moved"] = dict(pristine.moved)
    data["digest"] = _digest(data)
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def read_pristine(folder: Path) -> Pristine:
    """Raises ScaffoldError if the folder is not a project, or if pristine.json is damaged."""
    path = folder / PRISTINE
    mend = "Restore it from your version control, or rebuild it with `scaffold adopt`."
    try:
        if (folder / FOLDER).is_symlink() or path.is_symlink():
            raise ScaffoldError(f"{path} is a link: it must be a file in the project itself.")
        text = path.read_text(encoding="utf-8")
        if "\n<<<<<<< " in text:
            raise ScaffoldError(
                f"{path}: has conflicts of git. Resolve those of all other files, then rebuild it "
                "with `scaffold adopt`."
            )
        data = json.loads(text)
    except FileNotFoundError:
        hint = "`scaffold new` creates one."
        if (folder / "scaffold.toml").is_file():
            hint = "`scaffold adopt` rebuilds it from scaffold.toml."
        raise ScaffoldError(
            f"{folder} is not a scaffold project: it has no {PRISTINE}. {hint}"
        ) from None
    except OSError as error:
        raise ScaffoldError(f"{path}: can't be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise ScaffoldError(f"{path}: is damaged: {error}. {mend}") from None
    return _check(path, data, mend)


def check_name(name: object) -> str:
    """A path inside a project, with '/' in it. Raises ValueError for any other."""
    if isinstance(name, str) and name and name.isprintable() and not set(name) & set("\\:"):
        path = PurePosixPath(name)
        if path.parts and not path.is_absolute() and str(path) == name:
            parts = {part.lower() for part in path.parts}
            if not parts & {"..", ".", ".git", ".hg", ".svn", FOLDER}:
                return name
    raise ValueError(f"{name!r} is not the path of a file in the project")


def _check(path: Path, data: Any, mend: str) -> Pristine:
    try:
        pristine = Pristine(
            version=data["version"],
            answers=data["answers"],
            files=data["files"],
            moved=data.get("moved", {}),
            templates=data.get("templates", {}),
        )
        digest = data.pop("digest")
        tables = (pristine.answers, pristine.files, pristine.moved, pristine.templates)
        if not all(isinstance(table, dict) for table in tables):
            raise ValueError("'answers' and 'files' must be tables")
        for name in (*pristine.files, *pristine.moved, *pristine.moved.values()):
            check_name(name)
        if not all(isinstance(text, str) for text in (pristine.version, *pristine.files.values())):
            raise ValueError("a file is not text")
        if not all(
            isinstance(value, bool | int | float | str) for value in data["answers"].values()
        ):
            raise ValueError("an answer is not a value")
        if digest != _digest(data):
            raise ValueError("it was edited by hand")
    except KeyError as error:
        raise ScaffoldError(f"{path}: is damaged: {error} is missing. {mend}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise ScaffoldError(f"{path}: is damaged: {error}. {mend}") from None
    return pristine


def _digest(data: Mapping[str, Any]) -> str:
    """A digest of the rest of the file, so that an edited copy is not taken for the render."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
