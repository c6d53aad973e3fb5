"""Files of projects, written, read and edited."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return folder


def read_files(folder: Path) -> dict[str, bytes]:
    """The content of all files below a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def listing(folder: Path) -> list[str]:
    """All paths below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A table with its inner ones, each row under its whole key."""
    rows: dict[str, Any] = {}
    for name, value in table.items():
        key = f"{prefix}{name}"
        rows |= flatten(value, f"{key}.") if isinstance(value, dict) else {key: value}
    return rows


def replace_in(path: Path, old: str, new: str) -> None:
    """Replace the one place in a file where a text stands."""
    text = path.read_text()
    assert text.count(old) == 1, text.count(old)
    path.write_text(text.replace(old, new))


def add_answers(path: Path, rows: str) -> None:
    """Add rows, with the headers of their tables, to a scaffold.toml that has none of these."""
    path.write_text(f"{path.read_text()}\n{rows}")
