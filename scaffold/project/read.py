"""Reads the text files of a project. Never runs them, never follows a link out of the project."""

import itertools
import os
import re
import stat
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from scaffold.errors import ScaffoldError
from scaffold.project.pristine import FOLDER, check_name

MOST_FILES = 3000  # searched for a moved file
MOST_ENTRIES = 30_000  # in all folders, which may include a dataset
MOST_BYTES = 1_000_000
# not the project's code, or copies of it
_OTHER_FOLDERS = {"__pycache__", "build", "dist", "node_modules", "runs", "venv"}
_OTHER_PROJECTS = {FOLDER, "pyvenv.cfg"}  # marks the folder of another project


def read_text(folder: Path, name: str) -> str | None:
    """The text of a project file as it is stored. None if it does not exist.

    Links inside the project are followed. Raises ScaffoldError for a link that leads out of it, for
    anything but a file, and for a file that can't be read.
    """
    path = folder / name
    try:
        real = path.resolve()
        if not real.is_relative_to(folder.resolve()):
            raise ScaffoldError(f"{path}: is a link that leads out of the project.")
        if real.exists() and not real.is_file():
            raise ScaffoldError(f"{path}: is not a file.")
        return _decode(real.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ScaffoldError(f"{path}: can't be read: {error.strerror}.") from None
    except RuntimeError:  # links in a circle
        raise ScaffoldError(f"{path}: is a broken link.") from None


def _decode(content: bytes) -> str:
    return content.decode(errors="surrogateescape")


def read_texts(
    folder: Path, always: Iterable[str] = (), suffixes: Collection[str] | None = None
) -> dict[str, str]:
    """The text files of a project by path, those near its root first, then `always`.

    Hidden files, links, other projects, environments, runs, large files and files with a zero byte
    are left out. So are files with other `suffixes`, if any are given. The files in `always` are
    included if they exist and can be read.
    """
    texts: dict[str, str] = {}
    for path in _walk(folder, suffixes):
        if len(texts) >= MOST_FILES:
            break
        try:
            content = path.read_bytes()
            name = check_name(path.relative_to(folder).as_posix())
        except (OSError, ValueError):  # gone or locked, or a name that a patch can't contain
            continue
        if b"\0" not in content:
            texts[name] = _decode(content)
    for name in always:
        if name not in texts:
            try:
                text = read_text(folder, name)
            except ScaffoldError:
                continue
            if text is not None:
                texts[name] = text
    return texts


_NAMED = re.compile(r"[\"']([\w./-]+\.(?:ya?ml|json))[\"']")
_HYDRA = re.compile(r"config_path=[\"']([\w./-]+)[\"'],\s*config_name=[\"']([\w-]+)")


def read_named(folder: Path, code: Mapping[str, str]) -> dict[str, str]:
    """The files of settings that Python code names, such as `config.yaml`, by path."""
    names: set[str] = set()
    for path, text in code.items():
        if path.endswith(".py"):
            names |= set(_NAMED.findall(text))
            names |= {f"{place}/{name}.yaml" for place, name in _HYDRA.findall(text)}
    texts: dict[str, str] = {}
    for name in sorted(names):
        try:
            place = check_name(PurePosixPath(name).as_posix())
            found = read_text(folder, place)
        except (ScaffoldError, ValueError):
            continue
        if found is not None and "\0" not in found and len(found) <= MOST_BYTES:
            texts[place] = found
    return texts


def _walk(folder: Path, suffixes: Collection[str] | None) -> Iterator[Path]:
    """Files that may be text, folder by folder, those near the root first."""
    folders = deque([folder])
    seen = 0
    while folders and seen < MOST_ENTRIES:
        here = folders.popleft()
        try:
            with os.scandir(here) as scan:
                first = itertools.islice(scan, MOST_ENTRIES - seen)
                entries = sorted(first, key=lambda entry: entry.name)
        except OSError:
            continue
        if here != folder and any(entry.name in _OTHER_PROJECTS for entry in entries):
            continue
        seen += len(entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _OTHER_FOLDERS:
                    folders.append(Path(entry.path))
            elif suffixes is None or PurePosixPath(entry.name).suffix in suffixes:
                try:
                    about = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES:
                    yield Path(entry.path)
