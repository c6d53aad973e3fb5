"""Caches texts that take long to make, on this machine, for the next command."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

FOLDER = "SCAFFOLD_CACHE_DIR"  # an environment variable that moves the cache
PREFIX = "scaffold-"  # of our files: the folder may contain others
LIMIT = 2000  # files of a few kilobytes each


def remember(key: str, make: Callable[[], str]) -> str:
    """The cached text for this key; without one, what `make` returns, which is cached.

    A cache file that is damaged or can't be read or written is ignored.
    """
    path = _folder() / f"{PREFIX}{_digest(key)}"
    text = _read(path)
    if text is None:
        text = make()
        _write(path, text)
    return text


def signature(folder: str | Path) -> str:
    """A text that differs after a change of any file below a folder."""
    found = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir():
                found += [] if entry.name == "__pycache__" else [signature(entry.path)]
            else:
                about = entry.stat()
                found.append(f"{entry.path} {about.st_mtime_ns} {about.st_size}")
    return "\n".join(found)


def _folder() -> Path:
    if folder := os.environ.get(FOLDER):
        return Path(folder)
    import platformdirs

    return platformdirs.user_cache_path("scaffold", appauthor=False)


def _read(path: Path) -> str | None:
    try:
        digest, _, text = path.read_bytes().decode().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return text if digest == _digest(text) else None


def _write(path: Path, text: str) -> None:
    import tempfile

    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=PREFIX, delete=False) as file:
            file.write(f"{_digest(text)}\n{text}".encode())
        # complete or not at all: other commands may be reading
        Path(file.name).replace(path)
        _forget_the_oldest(path.parent)


def _forget_the_oldest(folder: Path) -> None:
    """Keep the newest files, and delete a quarter of them at once: a look at all takes time."""
    with os.scandir(folder) as entries:
        files = [entry for entry in entries if entry.name.startswith(PREFIX)]
    if len(files) > LIMIT:
        files.sort(key=lambda file: file.stat().st_mtime)
        for file in files[: len(files) - LIMIT + LIMIT // 4]:
            Path(file).unlink()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
