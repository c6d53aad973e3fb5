"""A look into the data of a project when an answer names them, before any training.

Only a part is read: 10,000 rows, 8 million characters and 1 second at most. Nothing in it is
executed, nothing elsewhere is opened, and links inside a folder are not followed.
"""

import ast
import csv
import difflib
import gzip
import io
import json
import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TextIO, TypeVar, cast

from scaffold.answers.catalog import HUB, Catalog, Option
from scaffold.answers.conversations import Objects, look_at_answers, look_at_chats
from scaffold.answers.resolve import Answers, applies

ROWS, CHARACTERS, SECONDS, ENTRIES = 10_000, 8_000_000, 1.0, 200_000
SHOWN, LETTERS = 8, 30  # columns or classes in a message, and the beginning of each name
SPLITS = {
    "train": ("train", "training"),
    "val": ("val", "valid", "validation", "dev"),
    "test": ("test", "testing"),
}
LEAST = 10  # rows that can be split
SOUNDS = {".aif", ".aiff", ".flac", ".m4a", ".mp3", ".ogg", ".opus", ".wav", ".wave", ".wma"}
OBJECTS = {".json", ".jsonl", ".jsonlines", ".jl", ".ndjson", ".ldjson"}
COMPRESSED = {".gz", ".bz2", ".xz", ".zst"}
IMAGES = {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}

Row = dict[str, str | None]
Columns = list[tuple[Option, str]]  # settings that name columns, and their answers
T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    """What was found at a path, in words."""

    path: str
    facts: tuple[str, ...] = ()  # "180 rows", "3 columns: a, b, label"
    problem: str = ""  # the first one
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        path, problem, facts = map(_printable, (self.path, self.problem, "; ".join(self.facts)))
        if not facts and not problem:
            return f"{path} does not exist yet: training needs it."
        text = f"{path}: {facts or problem}"
        return f"{text}\n  problem: {problem}" if facts and problem else text


@dataclass
class Table:
    """The rows of a file as far as they were read."""

    columns: list[str]
    rows: list[Row] = field(default_factory=list)
    objects: list[dict[str, object]] = field(default_factory=list)  # the same in JSON, unchanged
    whole: bool = True  # whether these are all rows
    problem: str = ""


def look_at_data(
    catalog: Catalog, answers: Answers, places: Iterable[Path], known: Iterable[str] | None = None
) -> dict[str, Finding]:
    """What is found at each path of data that these answers name, by its key.

    A relative path is looked for in these places, the first one first. If only the answers to some
    keys are known, the others are not looked at.
    """
    options = [option for option in catalog.settings.values() if applies(catalog, option, answers)]
    places = list(places)
    known = None if known is None else set(known)
    found: dict[str, Finding] = {}
    for option in options:
        value = str(answers[option.key])
        if option.path in ("", HUB) or not value or (known is not None and option.key not in known):
            continue
        path = find_path(value, places)
        if path is None:
            found[option.key] = Finding(value)
            continue
        columns = [
            (other, str(answers[other.key]))
            for other in options
            if other.column
            and other.table == option.table
            and (known is None or other.key in known)
        ]
        parts = [other for other in options if other.path and other.table == option.table]
        is_first = option is parts[0]
        apart = all(answers[other.key] for other in parts[1:]) if parts[1:] else False
        found[option.key] = look(option.path, Place(value, path, columns, is_first and not apart))
    return found


def find_path(value: str, places: Iterable[Path]) -> Path | None:
    """Where a path of data leads, None if nothing is there."""
    try:
        path = Path(value).expanduser()
        return next((place / path for place in places if (place / path).exists()), None)
    except (OSError, RuntimeError, ValueError):
        return None


@dataclass(frozen=True)
class Place:
    """An existing path, and what its settings say about it."""

    name: str
    path: Path
    columns: Columns
    is_split: bool  # whether it holds all parts of the data

    @property
    def suffix(self) -> str:
        return _suffix(self.path)


def look(kind: str, place: Place) -> Finding:
    """What is found at a path of data of this kind, which is one of READERS."""
    try:
        return READERS[kind](place)
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        return Finding(place.name, problem=f"it can't be read: {reason}.")


def _look_at_file(place: Place) -> Finding | None:
    """What is said of a file without reading its rows."""
    if not place.path.is_file():
        return Finding(place.name, problem="it is not a file.")
    if place.path.stat().st_size == 0:
        return Finding(place.name, problem="the file is empty.")
    with place.path.open("rb") as file:
        start = file.read(64)
    kind = "Parquet" if start.startswith(b"PAR1") else ""
    if place.path.suffix.lower() in COMPRESSED - {".gz"}:
        kind = "compressed"
    if start.lstrip().startswith(b"[") and place.path.stat().st_size > CHARACTERS:
        kind = "large JSON"
    if kind:
        return Finding(place.name, (f"a {kind} file, which is read when training starts",))
    return None


def _look_at_any(place: Place) -> Finding:
    """A file that only training reads."""
    return _look_at_file(place) or Finding(place.name, ("a file, which is read in training",))


def _look_at_table(place: Place, separator: str = ",") -> Finding:
    """Rows with named columns."""
    if unread := _look_at_file(place):
        return unread
    table = read_table(place.path, separator)
    return _look_at_rows(place.name, table, place.columns, place.is_split)


def _look_at_tabs(place: Place) -> Finding:
    """Rows with named columns, which tabs separate in a .tsv file."""
    return _look_at_table(place, "\t" if place.suffix == ".tsv" else ",")


# rows with named columns


def read_table(path: Path, separator: str = ",") -> Table:
    """The beginning of a CSV file, whose first line names the columns, or of a JSONL file."""
    text, whole = read_text(path)
    if _suffix(path) in OBJECTS:
        return _read_objects(text, whole)
    # by default, a text must be shorter than 128 kB; the limit is one for the whole process
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    lines = _read_cells(text, separator)
    table = Table(next(lines, []), whole=whole)
    rows = [row for row in _in_time(lines, table) if row]  # as pandas and csv.DictReader do
    if not whole:
        del rows[-1:]  # it may be cut
    for number, row in enumerate(rows, start=1):
        if len(row) != len(table.columns) and not table.problem:
            table.problem = (
                f"row {number} has {_count(len(row), 'field')}, and the first line names "
                f"{len(table.columns)}. Quote texts that have commas."
            )
        table.rows.append(dict(zip(table.columns, row, strict=False)))
    return table


def _read_cells(text: str, separator: str) -> Iterator[list[str]]:
    """The rows of a CSV or TSV file. Quotation marks are text if each line of a TSV is a row."""
    lines = io.StringIO(text, newline="")
    if separator == "\t" and _has_a_row_in_each_line(text):
        for row in csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE):
            yield [_unquote(cell) for cell in row]
    else:
        yield from csv.reader(lines, delimiter=separator)


def _has_a_row_in_each_line(text: str) -> bool:
    lines = text.splitlines()[:-1]  # the last one may be cut
    return len({line.count("\t") for line in lines if line.strip()}) == 1


def _unquote(cell: str) -> str:
    quoted = re.fullmatch('"((?:[^"]|"")*)"', cell)
    return quoted[1].replace('""', '"') if quoted else cell


def _read_objects(text: str, whole: bool) -> Table:
    table = Table([], whole=whole)
    try:
        listed = json.loads(text) if text.lstrip().startswith("[{") else None
    except (ValueError, RecursionError):
        listed = None
    for item in _in_time(listed or text.splitlines(), table):
        if not (item.strip() if isinstance(item, str) else item):
            continue
        number = len(table.rows) + 1
        try:
            row = json.loads(item) if isinstance(item, str) else item
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            table.problem = f"row {number} is not a JSON object."
            break
        table.columns = table.columns or list(row)
        table.objects.append(row)
        table.rows.append({k: None if v is None else _as_cell(v) for k, v in row.items()})
    return table


def _as_cell(value: object) -> str:
    """A value of JSON as a CSV file has it: a list with commas."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _open(path: Path) -> TextIO:
    if path.suffix.lower() == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding="utf-8-sig", newline=""))
    return path.open(encoding="utf-8-sig", newline="")


def _suffix(path: Path) -> str:
    """What the name of a file ends with, before an ending of compressed files."""
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return plain.suffix.lower()


def read_text(path: Path) -> tuple[str, bool]:
    """The first lines of a text file, and whether they are the whole file."""
    with _open(path) as file:
        text = file.read(CHARACTERS)
        if not file.read(1):
            return text, True
    return text[: text.rfind("\n") + 1] or text, False


def _in_time(items: Iterable[T], table: Table) -> Iterator[T]:
    """The first ROWS items, or as many as fit in SECONDS. The table notes if there are more."""
    end, iterator = time.monotonic() + SECONDS, iter(items)
    for number, item in enumerate(islice(iterator, ROWS)):
        yield item
        if number % 1000 == 999 and time.monotonic() > end:
            break
    if next(iterator, None) is not None:
        table.whole = False


def _look_at_rows(name: str, table: Table, columns: Columns, is_split: bool) -> Finding:
    named = ", ".join(column[:LETTERS] for column in table.columns[:SHOWN])
    more = f" and {len(table.columns) - SHOWN} more" if len(table.columns) > SHOWN else ""
    count = len(table.columns)
    facts = [
        _count(len(table.rows), "row", table.whole),
        f"{_count(count, 'column')}: {named}{more}",
    ]
    problem = _wrong_columns(table, columns) or table.problem
    for option, value in columns:
        if option.column not in ("classes", "lists", "numbers") or value not in table.columns:
            continue
        cells = [row.get(value) or "" for row in table.rows]
        if option.column == "lists":
            names = [name for cell in cells for name in _split_labels(cell)]
            facts.append(_classes(value, Counter(filter(None, names)), table.whole, "label"))
            problem = problem or ("" if any(names) else f"no row has {value}.")
            continue
        if option.column == "classes":
            facts.append(_classes(value, Counter(filter(None, cells)), table.whole))
        problem = problem or _wrong_labels(option, value, cells)
    targets = [value for option, value in columns if option.key.endswith(".target")]
    if {*targets} & {*table.columns}:
        facts += _kinds_of_columns(table, targets)
    if is_split and table.whole and len(table.rows) < LEAST and not problem:
        problem = f"a split into three parts needs at least {LEAST} rows."
    return Finding(name, tuple(facts), problem, tuple(table.columns))


def _kinds_of_columns(table: Table, targets: list[str]) -> list[str]:
    """Which other columns hold numbers, dates and categories, as far as was read."""
    kinds: dict[str, list[str]] = {"numbers": [], "dates": [], "categories": []}
    for column in [name for name in table.columns if name not in targets]:
        cells = [cell.strip() for row in table.rows if (cell := row.get(column)) and cell.strip()]
        if any(map(_is_code, cells)):
            kind = "categories"
        elif all(_is_number(cell) or cell.lower() in ("true", "false") for cell in cells):
            kind = "numbers"
        else:
            dates = all(re.match(r"\d{4}-\d\d-\d\d", cell) for cell in cells)
            kind = "dates" if dates else "categories"
        kinds[kind].append(column[:LETTERS])
    return [
        f"{kind}: {', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}"
        for kind, names in kinds.items()
        if names
    ]


def _is_code(cell: str) -> bool:
    """Whether a cell is like 01, which is no number."""
    return bool(re.match(r"[+-]?0\d", cell))


def _wrong_columns(table: Table, columns: Columns) -> str:
    if not table.rows:
        return table.problem or "it has no rows."
    [first, *rest] = table.columns or [""]
    if not rest and any(mark in first for mark in ";\t|"):
        return "its columns are not separated by commas."
    for option, value in columns:
        parts = value.split(",") if option.column in ("several", "names") else [value]
        for part in parts:
            part = part.partition("=")[0] if option.column == "names" else part
            if part and part not in table.columns:
                return f"it has no column {part!r} ({option.key}).{_meant(part, table.columns)}"
    return ""


def _meant(name: str, columns: list[str]) -> str:
    plain = {column.strip().lower(): column for column in reversed(columns)}
    near = difflib.get_close_matches(name.strip().lower(), plain, n=1)
    return f" Did you mean {plain[near[0]]!r}?" if near else ""


def _wrong_labels(option: Option, column: str, cells: list[str]) -> str:
    for number, cell in enumerate(cells, start=1):
        if not cell.strip():
            return f"row {number} has no {column}."
        if option.column == "numbers" and not (_is_number(cell) and isfinite(float(cell))):
            return f"row {number} has the {column} {cell[:LETTERS]!r}, which is not a number."
    numbers: dict[float, str] = {}
    names = cells if option.column == "classes" else []
    for number, cell in enumerate(map(str.strip, names), start=1):
        if not _is_number(cell) or _is_code(cell):
            continue
        if (first := numbers.setdefault(float(cell), cell)) != cell:
            return (
                f"row {number} has the {column} {cell!r}, the same number as {first!r}: write one."
            )
    if option.column == "classes" and len(set(cells)) == 1:
        return f"all rows have the same {column}."
    return ""


def _split_labels(cell: str) -> list[str]:
    """The labels of a cell, with commas between them or in a list, as JSON and pandas write it."""
    if cell.lstrip().startswith(("[", "(")):
        try:
            return [str(name).strip() for name in ast.literal_eval(cell.strip())]
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return [cell]
    return [name.strip() for name in cell.split(",")]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _look_at_conversations(place: Place, look_at: Callable[[Objects], tuple[str, str]]) -> Finding:
    """Conversations in rows of JSON."""
    if unread := _look_at_file(place):
        return unread
    table = read_table(place.path)
    finding = _look_at_rows(place.name, table, place.columns, place.is_split)
    if finding.problem or any(value for _, value in place.columns):  # keys have other names
        return finding
    fact, problem = look_at(table.objects)
    return replace(finding, facts=(*finding.facts, *filter(None, [fact])), problem=problem)


def _look_at_sentences(place: Place) -> Finding:
    """A word and its tag in each line, in the first and the last column: the format of CoNLL."""
    if unread := _look_at_file(place):
        return unread
    name, path, is_split = place.name, place.path, place.is_split
    if place.suffix in OBJECTS:
        return _look_at_rows(name, read_table(path), place.columns, is_split)
    text, whole = read_text(path)
    table = Table([], whole=whole)
    sentences, types, inside, width, problem = 0, set(), False, 0, ""
    for number, line in enumerate(_in_time(text.splitlines(), table), start=1):
        cells = line.strip().split("\t" if "\t" in line.strip() else None) or [""]
        is_tag = any(re.fullmatch("O|[BIELMSU]-.+", cell) for cell in cells[1:] or cells)
        if cells[0] in ("", "-DOCSTART-") or (cells[0].startswith("#") and not is_tag):
            inside = inside and bool(cells[0])
            continue
        sentences += not inside
        inside, width = True, width or len(cells)
        types |= {cells[-1][2:]} - {""} if re.fullmatch("[BIELMSU]-.+", cells[-1]) else set()
        if len(cells) < 2 or len(cells) != width or not is_tag:
            problem = problem or f"line {number} has no word and tag of IOB2: {line[:LETTERS]!r}."
    if is_split and table.whole and sentences < LEAST and not problem:
        problem = f"a split into three parts needs at least {LEAST} sentences."
    shown = ", ".join(kind[:LETTERS] for kind in sorted(types)[:SHOWN])
    facts = [_count(sentences, "sentence", table.whole)]
    facts += [f"{_count(len(types), 'type', table.whole)}: {shown}"] if types else []
    return Finding(name, tuple(facts), problem)


def _look_at_questions(place: Place) -> Finding:
    """Questions about texts: a JSON object in each line, or nested as in the files of SQuAD."""
    if unread := _look_at_file(place):
        return unread
    name, path, is_split = place.name, place.path, place.is_split
    text, whole = read_text(path)
    if place.suffix in OBJECTS - {".json"} or text.lstrip().startswith("[{"):
        table = read_table(path)
        keys = ("context", "question", "answers")
        lacks = [key for key in keys if any(key not in row for row in table.rows)]
        problem = table.problem or (f"a row has no {lacks[0]!r}." if lacks else "")
        questions, whole = len(table.rows), table.whole
        texts = {row.get("context") for row in table.rows}
    else:
        if not whole:
            return Finding(name, ("a large JSON file, which is read when training starts",))
        try:
            parts = [part for entry in json.loads(text)["data"] for part in entry["paragraphs"]]
            texts = {part["context"] for part in parts}
            questions, problem = sum(len(part["qas"]) for part in parts), ""
        except (KeyError, TypeError, ValueError, RecursionError):
            problem = "it is not JSON in SQuAD's format: data, paragraphs, qas."
            return Finding(name, problem=problem)
    problem = problem or ("" if questions else "it has no questions.")
    if is_split and whole and len(texts) < LEAST and not problem:
        problem = f"a split into three parts needs at least {LEAST} texts."
    return Finding(
        name, (_count(questions, "question", whole), _count(len(texts), "text", whole)), problem
    )


# folders


def _look_at_texts(place: Place) -> Finding:
    """A text file, or the .txt files of a folder."""
    name, path = place.name, place.path
    if place.suffix in OBJECTS:  # a few long texts can be cut into parts
        unread = _look_at_file(place)
        return unread or _look_at_rows(name, read_table(path), place.columns, is_split=False)
    if path.is_file():
        text, whole = read_text(path)
        facts = (_count(len(text), "character", whole),)
        return Finding(name, facts, "" if text.strip() else "the file is empty.")
    files, whole = list_files(path, {".txt"})
    facts = (_count(len(files), "text", whole),)
    if not files:
        return Finding(name, facts, "no file in it ends in .txt.")
    if files[0].is_file() and not files[0].is_symlink():
        read_text(files[0])
    return Finding(name, facts)


def _look_at_files(kind: str, name: str, path: Path, is_split: bool) -> Finding:
    """Images or sounds below a folder, with a subfolder for each class unless `kind` is images."""
    noun, suffixes = ("sound", SOUNDS) if kind == "sounds" else ("image", IMAGES)
    if not path.is_dir():
        return Finding(name, problem="it is not a folder.")
    files, whole = list_files(path, suffixes)
    names = [file.relative_to(path).parts for file in files]
    if any(_split_of(n[0]) == "train" for n in names):  # as a project reads them
        names = [(_split_of(n[0]) or n[0], *n[1:]) for n in names]
    parts = {part for part in ("train", "val", "test") if any(n[0] == part for n in names)}
    depth = 1 if "train" in parts else 0
    facts = [_count(len(files), noun, whole)]
    if parts:
        facts.append(f"parts: {', '.join(sorted(parts, key=['train', 'val', 'test'].index))}")
    if not files:
        return Finding(name, tuple(facts), f"no file in it ends in {', '.join(sorted(suffixes))}.")
    for_training = [n for n in names if n[0] == "train" or (not depth and n[0] not in parts)]
    if kind != "images":
        classes = Counter(n[depth] for n in for_training if len(n) > depth + 1)
        if not classes:
            problem = f"it has no subfolder with {noun}s for each class."
            return Finding(name, tuple(facts), problem)
        facts.append(_classes("", classes, whole))
        inner = {name: {n[depth + 1] for n in for_training if n[depth] == name} for name in classes}
        same = {frozenset(found) for found in inner.values()}
        if len(classes) > 1 and len(same) == 1 and all(len(n) > depth + 2 for n in for_training):
            problem = (
                f"its folders {', '.join(classes)} have the same subfolders: which are classes?"
            )
            return Finding(name, tuple(facts), problem)
        if len(classes) == 1:
            return Finding(name, tuple(facts), f"all {noun}s are in one class.")
    few = is_split and whole and len(for_training) < LEAST + 1 and not {"val", "test"} <= parts
    problem = f"a split into three parts needs at least {LEAST + 1} {noun}s." if few else ""
    return Finding(name, tuple(facts), problem)


def _split_of(folder: str) -> str:
    """The part of the data that a folder of this name has, or nothing."""
    return next((part for part, names in SPLITS.items() if folder.lower() in names), "")


def _look_at_sound_table(name: str, table: Table) -> Finding:
    """Sound files, their labels and, if there is such a column, the part of each."""
    finding = _look_at_rows(name, table, [], is_split=False)
    lacks = [column for column in ("file", "label") if column not in table.columns]
    problem = finding.problem or (f"it has no column {lacks[0]!r}." if lacks else "")
    if not problem and "split" not in table.columns and table.whole and len(table.rows) < LEAST + 1:
        problem = f"a split into three parts needs at least {LEAST + 1} sounds."
    facts = finding.facts
    if not lacks:
        labels = Counter(label for row in table.rows if (label := row.get("label")))
        facts = (*facts, _classes("label", labels, table.whole))
    return Finding(name, facts, problem, finding.columns)


def list_files(folder: Path, suffixes: set[str]) -> tuple[list[Path], bool]:
    """The files below a folder that end like this, and whether these are all. Opens none."""
    end, seen, found = time.monotonic() + SECONDS, 0, []
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__MACOSX")
        for name in sorted(names):
            if Path(name).suffix.lower() in suffixes and not name.startswith("."):
                found.append(Path(parent, name))
        seen += len(names) + len(folders)
        if seen > ENTRIES or time.monotonic() > end:
            return found, False
    return found, True


# words


def _printable(text: str) -> str:
    """Without what a terminal would take for a command."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _count(number: int, noun: str, whole: bool = True) -> str:
    return f"{'' if whole else 'at least '}{number:,} {noun}{'' if number == 1 else 's'}"


def _classes(column: str, counts: Counter[str], whole: bool, noun: str = "class") -> str:
    shown = ", ".join(f"{name[:LETTERS]} ({count:,})" for name, count in counts.most_common(SHOWN))
    more = ", ..." if len(counts) > SHOWN else ""
    number = f"{'' if whole else 'at least '}{len(counts):,}"
    plural = noun if len(counts) == 1 else "classes" if noun == "class" else f"{noun}s"
    return f"{number} {plural}{f' in {column}' if column else ''}: {shown}{more}"


def _look_at_sounds(place: Place) -> Finding:
    """A folder of sounds, or a CSV file that lists them."""
    if place.suffix != ".csv":
        return _look_at_files("sounds", place.name, place.path, place.is_split)
    return _look_at_file(place) or _look_at_sound_table(place.name, read_table(place.path))


# by the `path` of an option: what looks at the data there
READERS: Mapping[str, Callable[[Place], Finding]] = {
    "rows": _look_at_table,
    "tables": _look_at_tabs,
    "chats": lambda place: _look_at_conversations(place, look_at_chats),
    "answers": lambda place: _look_at_conversations(place, look_at_answers),
    "texts": _look_at_texts,
    "sentences": _look_at_sentences,
    "questions": _look_at_questions,
    "images": lambda place: _look_at_files("images", place.name, place.path, place.is_split),
    "classes": lambda place: _look_at_files("classes", place.name, place.path, place.is_split),
    "sounds": _look_at_sounds,
    "file": _look_at_any,
}
KINDS = (*READERS, HUB)  # of paths
COLUMNS = ("classes", "lists", "numbers", "several", "names")  # what a column of rows may hold
