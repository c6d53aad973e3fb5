"""The answers in a file: scaffold.toml, or one that a user gives."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from scaffold.answers.catalog import Catalog
from scaffold.answers.check import check, find_option, short_key
from scaffold.answers.resolve import Answers
from scaffold.errors import AnswerError, ScaffoldError

LARGEST = 1_000_000  # bytes of a file of answers


def read_small_file(path: Path) -> str:
    """The text of a file. Raises OSError if it is no file, or larger than answers are."""
    if path.exists() and not path.is_file():
        raise OSError(None, "it is not a file")
    if path.stat().st_size > LARGEST:
        raise OSError(None, f"it is larger than {LARGEST:,} bytes")
    return path.read_text(encoding="utf-8")


def read_answers(
    catalog: Catalog, path: Path, obsolete: Collection[str] = (), text: str | None = None
) -> Answers:
    """The answers in a TOML file. If it has a table `features`, features not in it are off.

    `obsolete` are keys that are ignored if these settings no longer exist. Raises ScaffoldError if
    the file can't be read, or if a key or value is wrong.
    """
    try:
        text = read_small_file(path) if text is None else text
        if "\n<<<<<<< " in text:
            raise ScaffoldError(f"{path}: has conflicts of git: resolve them first.")
        data = tomllib.loads(text)
    except OSError as error:
        raise ScaffoldError(f"{path}: can't be read: {error.strerror}.") from None
    except ValueError as error:  # not UTF-8, not TOML, or a number with too many digits
        raise ScaffoldError(f"{path}: is not valid TOML: {error}.") from None
    given: Answers = {}
    options = catalog.settings
    try:
        for key, value in flatten(catalog, data):
            if key in obsolete and key not in options:
                continue
            given[key] = check(find_option(catalog, key), value)
    except AnswerError as error:
        raise ScaffoldError(f"{path}: {error}") from None
    if "features" in data:
        for feature in catalog.features.values():
            if not feature.switch:
                given.setdefault(feature.switch_key, feature.name in data["features"])
    return given


def flatten(catalog: Catalog, data: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for table, rows in data.items():
        if not isinstance(rows, dict):
            raise AnswerError(
                table, "is not a table: write settings below [project], [training] and so on."
            )
        for name, value in rows.items():
            if table == "features" and isinstance(value, dict):
                if name not in catalog.features:
                    find_option(catalog, f"features.{name}")
                yield from ((f"features.{name}.{key}", row) for key, row in value.items())
            elif table == "features" and name in catalog.features:
                yield short_key(catalog.features[name], str(value)), value
            else:
                yield f"{table}.{name}", value
