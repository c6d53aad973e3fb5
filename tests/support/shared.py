"""What several tests need and what takes long to make: made once, kept on the disk.

All workers of pytest-xdist fill and use one folder, in pytest's cache. Its name is a digest of the
code and of those templates that any project may have, so that a later run may use it, too. A
project is kept by the templates of what it has: with those of a feature, others stay as they are.
"""

import hashlib
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

from scaffold.answers.manifests import load_catalog
from scaffold.render.format import black_version
from support.paths import REPOSITORY

SUPPORT = [f"tests/support/{name}.py" for name in ("combinations", "facts", "rendering", "shared")]
SOURCES = ("templates", "scaffold", *SUPPORT)
FOLDER = "SCAFFOLD_SHARED_DIR"  # a variable, so that all processes agree

T = TypeVar("T")


def digest() -> str:
    """Of what everything follows from that is kept: code, manifests, the library of templates."""
    parts = [part.folder for part in load_catalog().components]
    files = (file for source in SOURCES for file in _files(REPOSITORY / source))
    return _digest(
        file for file in files if file.suffix == ".toml" or not any(map(file.is_relative_to, parts))
    )


@cache
def digest_of(folder: Path) -> str:
    """Of the templates of a feature, of a task, or of what all projects have."""
    return _digest(_files(folder))


def _files(path: Path) -> list[Path]:
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in paths if file.is_file() and file.suffix != ".pyc"]


def _digest(files: Iterable[Path]) -> str:
    found = hashlib.sha256(f"{sys.version} {black_version()}".encode())
    for file in files:
        found.update(f"{file.relative_to(REPOSITORY)}\n".encode() + file.read_bytes())
    return found.hexdigest()[:20]


def open_folder(parent: Path) -> None:
    """Keep what is made in a folder below this one, and forget that of other sources."""
    folder = parent / digest()
    for other in parent.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    os.environ[FOLDER] = str(folder)


def made_once(name: str, make: Callable[[], T]) -> T:
    """What `make` returned for this name, in whichever process: another one waits for it."""
    path = Path(os.environ[FOLDER]) / hashlib.sha256(name.encode()).hexdigest()
    if not path.exists():
        with _locked(path.with_suffix(".lock")):
            if not path.exists():
                scratch = path.with_suffix(".part")
                scratch.write_bytes(pickle.dumps(make()))
                scratch.replace(path)  # whole, or not at all
    found: T = pickle.loads(path.read_bytes())
    return found


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        if sys.platform != "win32":  # which has no flock: there it may be made twice
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
