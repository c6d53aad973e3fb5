"""Data sets of every task, and what people's files do to them: the grid of kinds and tasks.

A `Carrier` is a small data set that a task reads. A kind of problem changes its files; what is
then read must equal what the files of its `twin` give, or be refused with the place.
"""

import csv
import gzip
import io
import json
import re
import struct
import wave
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from PIL import Image

from scaffold.answers.catalog import Value

Files = Mapping[str, bytes]
Row = Mapping[str, Any]
ROW = r"(row|line|item|image) \d+|(images|annotations|categories)\[\d+\]"


@dataclass(frozen=True)
class Carrier:
    """A data set of a task. Its name begins with the task."""

    name: str
    settings: Mapping[str, Any]  # of Config
    files: Files = field(default_factory=dict)  # beside those that the rows are written to
    rows: tuple[Row, ...] = ()
    csv: bool = False  # what the rows can be written as
    json: bool = False
    label: str = ""  # the column of classes
    text: str = ""  # one of texts, or of categories
    number: str = ""  # one of numbers
    file: str = ""  # one of files
    option: str = "path"  # the setting that names the file of rows
    others: tuple[str, str] | None = ("val_path", "test_path")
    answers: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = {"project.task": self.task, "features.data_loading.enabled": False}
        object.__setattr__(self, "answers", {**given, **self.answers})

    @property
    def task(self) -> str:
        return self.name.partition(",")[0]

    @property
    def columns(self) -> list[str]:
        return [*self.rows[0]]

    def write(self, name: str, content: bytes) -> "Trial":
        """The data set with this content in the file that has the rows."""
        return Trial({**self.files, name: content}, {self.option: name}, place=name)

    def table(self, rows: tuple[Row, ...], head: list[str] | None = None) -> "Trial":
        return self.write("rows.csv", to_csv(rows, head))

    def lines(self, rows: tuple[Row, ...]) -> "Trial":
        return self.write("rows.jsonl", to_json(rows))

    def written(self, rows: tuple[Row, ...]) -> "Trial":
        return self.table(rows) if self.csv else self.lines(rows)

    def plain(self) -> "Trial":
        return self.written(self.rows) if self.rows else Trial(self.files)

    def changed(self, **cells: Any) -> tuple[Row, ...]:
        """The rows, with other cells in one of them."""
        rows = [dict(row) for row in self.rows]
        rows[2] |= cells
        return tuple(rows)

    def mapped(self, column: str, change: Callable[[Any], Any]) -> tuple[Row, ...]:
        return tuple({**row, column: change(row[column])} for row in self.rows)


@dataclass(frozen=True)
class Trial:
    """Files that are read with settings."""

    files: Files
    settings: Mapping[str, Any] = field(default_factory=dict)
    twin: "Trial | None" = None  # what they must equal if they are read; default: the plain ones
    place: str = ""  # what a message names: the file, and what else this pattern asks for
    row: bool = False
    said: str = ""  # what must be said if they are read

    def like(self, twin: "Trial") -> "Trial":
        return replace(self, twin=twin)

    def at_row(self) -> "Trial":
        return replace(self, row=True)

    def saying(self, words: str) -> "Trial":
        return replace(self, said=words)


def to_csv(rows: tuple[Row, ...], head: list[str] | None = None, **style: Any) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, **{"lineterminator": "\n", **style})
    writer.writerow(head or [*rows[0]])
    writer.writerows(row.values() for row in rows)
    return text.getvalue().encode()


def to_json(rows: tuple[Row, ...]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def to_parquet(rows: tuple[Row, ...]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    content = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), content)
    return content.getvalue()


def zipped(**files: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def saved(image: Image.Image, kind: str, **more: Any) -> bytes:
    content = io.BytesIO()
    image.save(content, kind, **more)
    return content.getvalue()


def picture(seed: int, kind: str = "png") -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (24, 24, 3), dtype=np.uint8)
    return saved(Image.fromarray(pixels), kind)


def sound(pitch: int) -> bytes:
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        wave_form = 10_000 * np.sin(2 * np.pi * pitch * np.arange(8000) / 16000)
        file.writeframes(wave_form.astype("<i2").tobytes())
    return content.getvalue()


# --- the data sets ------------------------------------------------------------------------------

COUNT = 24
WORDS = ["sun", "moon", "star", "sea", "tree", "hill"]
WORDS += ["rain", "snow", "wind", "leaf", "rock", "sand"]


def words(number: int) -> str:
    return f"{WORDS[number % 12]} {WORDS[number // 12 + number % 5]} {number}"


def later(count: int) -> Callable[[int], str]:
    """The words of a later row."""
    return lambda number: words(number + count)


def pick(*values: Any) -> Callable[[int], Any]:
    return lambda number: values[number % len(values)]


PICTURES = {f"p/{number:02}.png": picture(number) for number in range(COUNT)}
SOUNDS = {f"s/{number:02}.wav": sound(300 + 20 * number) for number in range(COUNT)}
MONTHS = [f"{2000 + n // 12}{1 + n % 12:02}" for n in range(60)]
SMALL = {"image_size": 16}
BOX = [4, 5, 10, 8]  # left, top, width and height


def coco_files(**changes: Any) -> Files:
    images = [
        {"id": n, "file_name": f"{n:02}.png", "width": 24, "height": 24} for n in range(COUNT)
    ]
    corners = [4, 5, 14, 5, 14, 13, 4, 13]
    shape = {"bbox": BOX, "iscrowd": 0, "area": 80, "segmentation": [corners]}
    marks = [{"id": n, "image_id": n, "category_id": 1 + n % 2, **shape} for n in range(COUNT)]
    names = [{"id": 1, "name": "cup"}, {"id": 2, "name": "ball"}]
    content = {"images": images, "annotations": marks, "categories": names}
    for name, change in changes.items():
        content[name] = change(content[name])
    pictures = {f"d/{n:02}.png": picture(n) for n in range(COUNT)}
    return {**pictures, "d/_annotations.coco.json": json.dumps(content).encode()}


def yolo_files(line: str = "{c} 0.375 0.375 0.416666 0.333333\n") -> Files:
    files = {f"d/images/{n:02}.png": picture(n) for n in range(COUNT)}
    files |= {f"d/labels/{n:02}.txt": line.format(c=n % 2).encode() for n in range(COUNT)}
    return {**files, "d/data.yaml": b"names: [cup, ball]\n"}


VOC = (
    "<annotation><filename>{n:02}.png</filename><object><name>{name}</name><bndbox>"
    "<xmin>5</xmin><ymin>6</ymin><xmax>14</xmax><ymax>13</ymax></bndbox></object></annotation>\n"
)


def voc_files(text: str = VOC) -> Files:
    files = {f"d/JPEGImages/{n:02}.png": picture(n) for n in range(COUNT)}
    made = {n: text.format(n=n, name=("cup", "ball")[n % 2]) for n in range(COUNT)}
    return {**files, **{f"d/Annotations/{n:02}.xml": made[n].encode() for n in range(COUNT)}}


def masks_files() -> Files:
    pixels = np.zeros((24, 24), dtype=np.uint8)
    pixels[4:12, 5:15] = 1
    files = {f"d/images/{n:02}.png": picture(n) for n in range(COUNT)}
    mask = saved(Image.fromarray(pixels), "png")
    return {**files, **{f"d/masks/{n:02}.png": mask for n in range(COUNT)}}


def options(name: str, dataset: str, more: Mapping[str, Value]) -> dict[str, Value]:
    task, _, kind = name.partition(", ")
    labels = {"labels": {"labels": "many"}, "numbers": {"labels": "number"}}.get(kind, {})
    every = {"dataset": dataset, **more, **labels}
    return {f"{task}.{key}": value for key, value in every.items()}


def of_rows(
    name: str,
    dataset: str,
    columns: Mapping[str, Callable[[int], Any]],
    settings: Mapping[str, Any] = MappingProxyType({}),
    files: Files = MappingProxyType({}),
    more: Mapping[str, Value] = MappingProxyType({}),
    **fields: Any,
) -> Carrier:
    """Rows that are written as CSV or JSON: each column by the number of the row."""
    rows = tuple({key: make(n) for key, make in columns.items()} for n in range(COUNT))
    fields = {"csv": True, "json": True, **fields}
    roles = {CLASS: "label", NUMBER: "number", KIND: "text"}
    fields |= {roles[make]: key for key, make in columns.items() if make in roles}
    return Carrier(name, settings, files, rows, **fields, answers=options(name, dataset, more))


of_table, of_objects = partial(of_rows, json=False), partial(of_rows, csv=False)


def of_files(name: str, dataset: str, files: Files, others: Any = None, **more: Any) -> Carrier:
    """Files of a folder without rows, and settings."""
    settings = {"path": "d", **more}
    return Carrier(name, settings, files, others=others, answers=options(name, dataset, {}))


SEVERAL, CLASS, KIND = pick("a,b", "b", "a"), pick("a", "b"), pick("u", "v", "w")
NUMBER = pick("0.5", "1.5", "2")
PAIR = {"prompt": words, "chosen": later(1), "rejected": later(2)}
LONG = {"text": lambda n: " ".join(map(words, range(n, n + 9)))}
OF_TEXTS = {"text": "text", "more": {"text_columns": "text"}}
ANSWERED = {
    "context": lambda n: f"It is {words(n)}.",
    "question": words,
    "answers": lambda n: {"text": [words(n)], "answer_start": [6]},
}
CHOICES = {"context": words, "choices": pick(["x", "y"], ["x", "z"]), "label": pick(0, 1)}
TAGGED = {"tokens": lambda n: words(n).split(), "tags": pick(["B-LOC", "O", "O"])}
PICTURE, SOUND = {"image": lambda n: f"p/{n:02}.png"}, {"file": lambda n: f"s/{n:02}.wav"}
CLASSED, SPOKEN = {**SOUND, "label": CLASS}, {**SOUND, "text": pick(*WORDS)}
OF_SOUNDS = {"files": SOUNDS, "file": "file"}
OF_PICTURES = {"settings": SMALL, "files": PICTURES, "file": "image"}
TABLE = {**OF_PICTURES, "option": "table", "others": ("val_table", "test_table")}
BOTH = ("val_path", "test_path")
CARRIERS = [
    of_table(
        "tabular_classification", "csv", {"x": str, "y": NUMBER, "kind": KIND, "target": CLASS}
    ),
    of_table("tabular_regression", "csv", {"x": str, "kind": KIND, "target": NUMBER}),
    of_rows("text_classification", "csv", {"text": words, "label": CLASS}, **OF_TEXTS),
    of_rows("text_classification, labels", "csv", {"text": words, "labels": SEVERAL}, **OF_TEXTS),
    of_rows("text_classification, numbers", "csv", {"text": words, "number": NUMBER}, **OF_TEXTS),
    of_rows("seq2seq", "csv", {"source": words, "target": later(1)}, text="target"),
    of_rows("embeddings", "files", {"anchor": words, "positive": later(3)}, text="positive"),
    of_rows("embeddings, images", "images", {**PICTURE, "text": words}, text="text", **OF_PICTURES),
    of_table("image_classification, csv", "csv", {**PICTURE, "label": CLASS}, **TABLE),
    of_table("image_classification, labels", "csv", {**PICTURE, "labels": SEVERAL}, **TABLE),
    of_table("image_classification, numbers", "csv", {**PICTURE, "number": NUMBER}, **TABLE),
    of_table("audio_classification, csv", "files", CLASSED, others=None, **OF_SOUNDS),
    of_rows("speech_recognition", "files", SPOKEN, text="text", **OF_SOUNDS),
    Carrier(
        "forecasting",
        {"context": 6, "horizon": 3, "season": 12},
        rows=tuple(
            {"time": month, "series": series, "value": str(number)}
            for series in "ab"
            for number, month in enumerate(MONTHS)
        ),
        csv=True,
        text="series",
        number="value",
        others=None,
        answers=options("forecasting", "file", {}),
    ),
    of_objects("sft", "jsonl", {"prompt": words, "completion": later(1)}, text="completion"),
    of_objects("dpo", "jsonl", PAIR, text="chosen"),
    of_objects("reward_model", "jsonl", PAIR, text="chosen"),
    of_objects("multiple_choice", "file", CHOICES, text="context"),
    of_objects("question_answering", "squad", ANSWERED, text="question"),
    of_objects("token_classification", "conll", TAGGED),
    of_objects("language_model", "text", LONG, {"context": 16}, text="text"),
    of_objects("masked_language_model", "text", LONG, {"max_length": 16}, text="text"),
    of_files(
        "image_classification",
        "image_folder",
        {f"d/{'ab'[n % 2]}/{n:02}.png": picture(n) for n in range(COUNT)},
        **SMALL,
    ),
    of_files(
        "audio_classification",
        "files",
        {f"d/{'ab'[n % 2]}/{n:02}.wav": sound(300 + 20 * n) for n in range(COUNT)},
    ),
    *[
        of_files(task, "image_folder", {f"d/{n:02}.png": picture(n) for n in range(COUNT)}, **SMALL)
        for task in ("autoencoder", "diffusion", "gan", "self_supervised")
    ],
    of_files("object_detection, coco", "coco", coco_files(), BOTH, image_size=32),
    of_files("object_detection, yolo", "yolo", yolo_files(), BOTH, image_size=32),
    of_files("object_detection, voc", "voc", voc_files(), BOTH, image_size=32),
    of_files("semantic_segmentation, folder", "folder", masks_files(), BOTH, **SMALL, classes=2),
    of_files("semantic_segmentation, coco", "coco", coco_files(), BOTH, **SMALL, classes=3),
]

# --- kinds --------------------------------------------------------------------------------------

Kind = Callable[[Carrier], Trial | None]
BOM = b"\xef\xbb\xbf"


def of_windows(text: bytes) -> bytes:
    """With a BOM, and the line ends of Windows."""
    return BOM + text.replace(b"\n", b"\r\n")


def empty(content: bytes) -> bytes:
    return b""


def of_the_web(content: bytes) -> bytes:
    return b"<html>404</html>"


def rewritten(change: Callable[[bytes], bytes], name: str = "rows.csv", row: bool = False) -> Kind:
    """The plain table, changed as bytes."""
    return lambda c: replace(c.write(name, change(to_csv(c.rows))), row=row)


def styled(name: str = "rows.csv", **style: Any) -> Kind:
    """The plain table, in another style of CSV."""
    return lambda c: c.write(name, to_csv(c.rows, **style))


def one_cell(field: str, cell: str) -> Kind:
    """Another cell in one row, in the column that a data set has for this."""

    def make(c: Carrier) -> Trial | None:
        column = getattr(c, field)
        return c.table(c.changed(**{column: cell})).at_row() if column else None

    return make


def all_cells(field: str, change: Callable[[str], str], row: bool = False) -> Kind:
    """Other cells in all rows."""

    def make(c: Carrier) -> Trial | None:
        column = getattr(c, field)
        return replace(c.table(c.mapped(column, change)), row=row) if column else None

    return make


def but_for_tables(make: Kind) -> Kind:
    """Of all data sets but those of the two tasks that read each column of a table."""
    return lambda c: None if c.task.startswith("tabular") else make(c)


def commas_in_a_cell(c: Carrier) -> Trial | None:
    column = c.text or c.label
    if not column:
        return None
    first = c.rows[0][column]
    rows = c.mapped(column, lambda cell: f'{cell}, "b"\nc' if cell == first else cell)
    return c.table(rows).like(c.lines(rows)) if c.json else c.table(rows)


def without_a_last_comma(text: bytes) -> bytes:
    """A comma at the end of each row, but not of the names."""
    head, _, rest = text.partition(b"\n")
    return head + b"\n" + rest.replace(b"\n", b",\n")


def numbered(rows: tuple[Row, ...], name: str) -> tuple[Row, ...]:
    return tuple({name: number, **row} for number, row in enumerate(rows))


def with_more(c: Carrier) -> tuple[Row, ...]:
    """The rows with a column that nobody reads."""
    return tuple({**row, "zip": number} for number, row in enumerate(c.rows))


def with_row(more: Callable[[bytes], bytes]) -> Kind:
    """A row more, made of the first one."""
    return rewritten(lambda text: text + more(text.splitlines()[1]) + b"\n", row=True)


def a_column_twice(c: Carrier) -> Trial:
    last = c.columns[-1]
    return c.table(tuple({**r, "+": r[last]} for r in c.rows), head=[*c.columns, last])


def in_capitals(c: Carrier) -> Trial:
    if c.task.startswith("tabular"):
        return c.table(c.rows, head=[name.replace("target", "Target") for name in c.columns])
    return c.table(c.rows, head=[name.title() for name in c.columns])


def one_number_twice(c: Carrier) -> Trial | None:
    if not c.label:
        return None
    rows = c.mapped(c.label, lambda name: "1" if name == "a" else "2")
    return c.table((*rows[:-1], {**rows[-1], c.label: "1.0"})).at_row()


def only_another_file(c: Carrier) -> Trial | None:
    """Classes that the training data do not have."""
    if not c.label or not c.others:
        return None
    trial = c.plain()
    held = tuple(row for row in c.mapped(c.label, lambda name: f"{name}.") if not c.file)
    if c.file:
        held = ({**c.rows[0], c.file: "p/extra.png", c.label: "a."},)
    files = {**trial.files, "held.csv": to_csv(held), "p/extra.png": picture(999)}
    settings = {**trial.settings, **dict.fromkeys(c.others, "held.csv")}
    if c.file:
        settings.pop(c.others[0])
    return Trial(files, settings, place="held.csv", row=True)


def not_a_number(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    missing = c.table(c.changed(**{c.number: ""}))
    return c.table(c.changed(**{c.number: "nan"})).at_row().like(missing)


def among_numbers(word: str) -> Kind:
    """A word in the sixth row, and whole numbers in the others."""

    def make(c: Carrier) -> Trial | None:
        if not c.number:
            return None
        whole = c.mapped(c.number, lambda number: number[0])
        return c.table((*whole[:5], {**whole[5], c.number: word}, *whole[6:])).at_row()

    return make


def a_name_among_numbers(c: Carrier) -> Trial | None:
    trial = among_numbers("x7")(c)
    if not trial or c.name != "tabular_classification":
        return trial
    # all are categories: those of a twin come in the same order, and one value is not in it
    names = [f"n{row[c.number][0]}" for row in c.rows]
    twin = tuple({**r, c.number: n} for r, n in zip(c.rows, names, strict=True))
    twin = (*twin[:5], {**twin[5], c.number: "nx7"}, *twin[6:])
    return replace(trial.like(c.table(twin)), said="y is 'x7' and no number, as in 1 of ")


def among_dates(cell: str) -> Kind:
    def make(c: Carrier) -> Trial | None:
        column = {"forecasting": "time"}.get(c.task, c.text if c.task.startswith("tabular") else "")
        if not column:
            return None
        dates = [f"2026-03-{1 + number % 30:02}T00:00:00" for number in range(len(c.rows))]
        rows = [{**row, column: date} for row, date in zip(c.rows, dates, strict=True)]
        rows[5] = {**rows[5], column: cell}
        return c.table(tuple(rows)).at_row()

    return make


def dates_of_other_forms(c: Carrier) -> Trial | None:
    if not c.task.startswith("tabular"):
        return None
    dates = {"u": "14/03/2026", "v": "2026-03-14", "w": "2026-05-01"}
    return c.table(c.mapped("kind", dates.__getitem__)).at_row()


def names_again(c: Carrier) -> Trial:
    lines = to_csv(c.rows).splitlines(keepends=True)
    return c.write("rows.csv", b"".join([*lines[:5], lines[0], *lines[5:]])).at_row()


def names_that_look_alike(c: Carrier) -> Trial | None:
    column = c.label or ("series" if c.task == "forecasting" else "")
    column = "kind" if c.task.startswith("tabular") else column
    if not column:
        return None
    rows = [{**row} for row in c.rows]
    for row in [row for row in rows if row[column] == c.rows[0][column]][::2]:
        row[column] += "\u200b"  # a space of no width
    return c.table(tuple(rows)).at_row()


def a_file_twice(c: Carrier) -> Trial | None:
    if not c.file or c.name == "embeddings, images":
        return None  # an image may have several texts: all of them are in one part
    return c.table(c.changed(**{c.file: c.rows[7][c.file]})).at_row()


def an_empty_class(c: Carrier) -> Trial | None:
    column = c.label or c.number
    if not column or c.task == "forecasting":
        return None
    return c.table(c.changed(**{column: ""})).at_row()


TABLES: dict[str, Kind] = {
    "BOM and line ends of Windows": rewritten(of_windows),
    "all cells quoted": styled(quoting=csv.QUOTE_ALL),
    "commas, quotes and line breaks in a cell": commas_in_a_cell,
    "a comma at the end of each row": rewritten(without_a_last_comma, row=True),
    # in a table of numbers, it is a column without a name
    "a comma at the end of each line": lambda c: replace(
        c.write("rows.csv", to_csv(c.rows).replace(b"\n", b",\n")), place="rows.csv|Unnamed"
    ),
    "an index column without a name": but_for_tables(lambda c: c.table(numbered(c.rows, ""))),
    "a row that is too short": with_row(lambda row: row.split(b",")[0]),
    "a row that is too long": with_row(lambda row: row + b",more"),
    "semicolons": styled(delimiter=";"),
    "tabs in a .csv file": styled(delimiter="\t"),
    "a .tsv file": styled("rows.tsv", delimiter="\t"),
    "a .TSV file": styled("rows.TSV", delimiter="\t"),
    "a quotation mark that is not closed": rewritten(
        lambda text: text + b'"' + text.splitlines()[1] + b"\n"
    ),
    "a column twice": a_column_twice,
    "spaces around the names of columns": lambda c: c.table(
        c.rows, head=[c.columns[0], *(f" {name}" for name in c.columns[1:])]
    ),
    "names of columns in capitals": in_capitals,
    "a space before a class": lambda c: (
        one_cell("label", f" {c.rows[2][c.label]}")(c) if c.label else None
    ),
    "an empty class or number": an_empty_class,
    "an empty text or file": but_for_tables(  # of which it counts as missing
        lambda c: c.table(c.changed(**{c.file or c.text: " "})).at_row()
    ),
    "classes called None, NA and nan": all_cells("label", {"a": "None", "b": "nan"}.__getitem__),
    "a class as 1 and as 1.0": one_number_twice,
    "codes as 01 and 1": all_cells("label", {"a": "01", "b": "2A"}.__getitem__),
    "classes that only another file has": only_another_file,
    "an infinite number": one_cell("number", "inf"),
    "a number that is nan": not_a_number,
    "a decimal comma": one_cell("number", "1,5"),
    "a thousands separator": one_cell("number", "1,234.5"),
    "a number with a unit": one_cell("number", "5 kg"),
    "numbers with a percent sign": all_cells("number", "{}%".format),
    "dates as 14/03/2026": dates_of_other_forms,
    "a word for nothing among whole numbers": among_numbers("Unknown"),
    "a name among whole numbers": a_name_among_numbers,
    "a word among dates": among_dates("soon"),
    "times with and without a time zone": among_dates("2026-03-01T00:00:00+01:00"),
    "the names of the columns again": names_again,
    "names that look alike": names_that_look_alike,
    "a number as 1_000": one_cell("number", "1_000"),
    "a number beyond 32 bits": one_cell("number", "1e39"),
    "empty lines": rewritten(lambda text: text.replace(b"\n", b"\n\n", 4) + b"\n\n"),
    "the header alone": rewritten(lambda text: text.splitlines()[0] + b"\n"),
    "an empty file": rewritten(empty),
    "no file": lambda c: Trial(c.files, {c.option: "missing.csv"}, place="missing.csv"),
    "Latin-1": rewritten(lambda text: text.replace(b"\n", b"\n\xe9", 1)),
    "UTF-16": rewritten(lambda text: text.decode().encode("utf-16")),
    "gzip": rewritten(gzip.compress, "rows.csv.gz"),
    "an archive": lambda c: c.write(
        "rows.zip", zipped(**{"rows.csv": to_csv(c.rows), "other.csv": b"x\n"})
    ),
    "gzip, named .csv": rewritten(gzip.compress),
    "an Excel file, named .csv": rewritten(
        lambda text: b"PK\3\4\x14\0\6\0\b\0\0\0!\0\xff\xfe\0\x9c"
    ),
    "a column that nobody reads": but_for_tables(lambda c: c.table(with_more(c)).saying("zip")),
    "a file in two rows": a_file_twice,
    "a file that is missing": one_cell("file", "s/none.wav"),
    "paths with backslashes": all_cells("file", lambda path: path.replace("/", "\\"), row=True),
}


def of_lines(change: Callable[[bytes], bytes], name: str = "rows.jsonl", row: bool = False) -> Kind:
    """The plain lines of JSON, changed as bytes."""
    return lambda c: replace(c.write(name, change(to_json(c.rows))), row=row)


def with_line(line: bytes) -> Kind:
    return of_lines(lambda text: text + line + b"\n", row=True)


def one_value(value: Any) -> Kind:
    """Another value in one object, of its class, its text or what else it has."""
    return lambda c: c.lines(c.changed(**{c.label or c.text or c.columns[-1]: value})).at_row()


def in_several_lines(c: Carrier) -> Trial:
    text = "".join(json.dumps(row, indent=1) + "\n" for row in c.rows)
    return c.write("rows.jsonl", text.encode()).at_row()


def nan_in_parquet(c: Carrier) -> Trial | None:
    column = c.label or c.number
    if not column:
        return None
    numbers = [float("nan"), *(float(number % 2) for number in range(1, COUNT))]
    changed = ({**row, column: x} for row, x in zip(c.rows, numbers, strict=True))
    return c.write("rows.parquet", to_parquet(tuple(changed))).at_row()


def a_key_twice(c: Carrier) -> Trial:
    line = f'{{"{c.columns[0]}": "x", {json.dumps(c.rows[0])[1:]}'
    return with_line(line.encode())(c)


def a_missing_key(c: Carrier) -> Trial:
    key = c.columns[0] if len(c.columns) > 1 else "other"
    return c.lines((*c.rows, {key: "x"})).at_row()


def an_empty_text(c: Carrier) -> Trial:
    column = c.text or c.columns[0]
    empty: Any = "" if isinstance(c.rows[0][column], str) else []
    trial = c.lines(c.changed(**{column: empty})).at_row()
    if len(c.columns) == 1:  # as if the row was not there
        return trial.like(c.lines(c.rows[:2] + c.rows[3:]))
    listed = c.changed(**{column: [{"role": "assistant", "content": ""}]})  # an empty answer
    return trial.like(c.lines(listed))


def a_number_for_a_text(c: Carrier) -> Trial:
    column = c.text or c.columns[0]
    trial = c.lines(c.changed(**{column: 5})).at_row()
    return trial.like(c.lines(c.changed(**{column: "5"})))


def one_number_in_two_ways(c: Carrier) -> Trial | None:
    if not c.label:
        return None
    rows = c.mapped(c.label, lambda name: 1 if name == "a" else 2)
    return c.lines((*rows[:-1], {**rows[-1], c.label: 1.0})).at_row()


OBJECTS: dict[str, Kind] = {
    "BOM and line ends of Windows": of_lines(of_windows),
    "empty lines": of_lines(lambda text: text.replace(b"\n", b"\n\n", 3) + b"\n\n"),
    "a list in a .json file": lambda c: c.write("rows.json", json.dumps(c.rows, indent=1).encode()),
    "a list in a .jsonl file": lambda c: c.write("rows.jsonl", json.dumps(c.rows).encode()),
    "an object in several lines": in_several_lines,
    "rows below a key": lambda c: c.write("rows.json", json.dumps({"data": c.rows}).encode()),
    "a .jsonlines file": of_lines(bytes, "rows.jsonlines"),
    "a .NDJSON file": of_lines(bytes, "rows.NDJSON"),
    "a .csv file": lambda c: None if c.csv else c.table(c.rows),
    "gzip": of_lines(gzip.compress, "rows.jsonl.gz"),
    "an archive": lambda c: c.write(
        "rows.zip", zipped(**{"rows.jsonl": to_json(c.rows), "other.jsonl": b"{}\n"})
    ),
    "half a gzip": of_lines(lambda text: gzip.compress(text)[:-20], "rows.jsonl.gz"),
    "Parquet": lambda c: c.write("rows.parquet", to_parquet(c.rows)),
    "Parquet with bytes for a text": lambda c: (
        c.write("rows.parquet", to_parquet(c.mapped(c.text, str.encode))).at_row()
        if c.text
        else None
    ),
    "NaN in Parquet": nan_in_parquet,
    "a key twice": a_key_twice,
    "a key that nobody reads": lambda c: c.lines(with_more(c)).saying("zip"),
    "a key that is missing": a_missing_key,
    "half a line": of_lines(lambda text: text[:-9], row=True),
    "a line that is a list": with_line(b'["x"]'),
    "null": one_value(None),
    "NaN": one_value(float("nan")),
    "an empty text": an_empty_text,
    "a number for a text": a_number_for_a_text,
    "a class as 1 and as 1.0": one_number_in_two_ways,
    "Latin-1": of_lines(lambda text: text + b'{"x": "\xe9"}\n'),
    "UTF-16": of_lines(lambda text: text.decode().encode("utf-16")),
    "a lone surrogate": with_line(b'{"x": "\\ud800"}'),
    "an empty file": of_lines(empty),
    "no file": lambda c: Trial(c.files, {c.option: "missing.jsonl"}, place="missing.jsonl"),
}


# --- folders ------------------------------------------------------------------------------------


def first_of(c: Carrier) -> tuple[str, bytes]:
    return next(iter(c.files.items()))


def suffix_of(c: Carrier) -> str:
    return first_of(c)[0].rpartition(".")[2]


def has_classes(c: Carrier) -> bool:
    return "/" in first_of(c)[0].removeprefix("d/")


def moved(change: Callable[[str, str], str]) -> Kind:
    """Other names of all files, which follow from a name and its ending."""
    return lambda c: Trial({change(name, suffix_of(c)): x for name, x in c.files.items()})


def first_is(change: Callable[[bytes], bytes]) -> Kind:
    """Another content of the first file, which is named then."""

    def make(c: Carrier) -> Trial:
        first, content = first_of(c)
        return Trial({**c.files, first: change(content)}, place=first.rpartition("/")[2])

    return make


def of_classes(make: Callable[[Carrier], Trial]) -> Kind:
    """Without classes, folders are like others, and all images are training data."""
    return lambda c: make(c) if has_classes(c) else None


def hidden_files(c: Carrier) -> Trial:
    first, content = first_of(c)
    parent, _, name = first.rpartition("/")
    more = {f"{parent}/.ipynb_checkpoints/{name}": content, f"{parent}/._{name}": b"Mac OS X"}
    more |= {"d/.ipynb_checkpoints/x.png": content, "d/__MACOSX/x.png": b"Mac"}
    more |= {f"d/.cache/a/{name}": content}
    return Trial({**c.files, **more})


def other_files(c: Carrier) -> Trial:
    parent = first_of(c)[0].rpartition("/")[0]
    more = {f"{parent}/Thumbs.db": b"x", f"{parent}/README.txt": b"x", "d/notes.md": b"x"}
    return Trial({**c.files, **more}, said="ignored files: ")


def of_another_kind(c: Carrier) -> Trial:
    parent, suffix = first_of(c)[0].rpartition("/")[0], suffix_of(c)
    name = "90.heic" if suffix == "png" else "90.webm"
    return Trial({**c.files, f"{parent}/{name}": b"x"}, said=f"ignored files: 1 {name[2:]}")


def beside_splits(c: Carrier) -> Trial:
    files = split_up(c, "train", "val", "test")
    more = {f"d/more/00.{suffix_of(c)}": first_of(c)[1], "d/list.csv": b"x"}
    return Trial({**files, **more}, twin=Trial(files), said="d: ignored: list.csv, more")


def beside_a_class(c: Carrier) -> Trial:
    return Trial({**c.files, f"d/x.{suffix_of(c)}": first_of(c)[1]}, said="d: ignored: x.")


def classes_that_look_alike(c: Carrier) -> Trial:
    first, content = first_of(c)
    return Trial({**c.files, first.replace("d/a/", "d/a\u200b/"): content}, place="d/a")


def split_up(c: Carrier, *names: str) -> Files:
    """The files in the folders of splits. One of each class, or three, are held out."""
    files = {}
    for path, content in c.files.items():
        number = int(path.rpartition("/")[2][:2])
        part = names[1] if number in (0, 1) else names[2] if number in (2, 3) else names[0]
        files[path.replace("d/", f"d/{part}/", 1)] = content
    return files


def split_names(*names: str) -> Kind:
    return lambda c: Trial(split_up(c, *names), twin=Trial(split_up(c, "train", "val", "test")))


def beside_classes(*names: str) -> Kind:
    """Folders of validation and test data, but none of training data."""

    def make(c: Carrier) -> Trial | None:
        if names[0] != "val" and not has_classes(c):
            return None  # without classes, they are folders like others
        files = {n.replace("d/train/", "d/"): x for n, x in split_up(c, "train", *names).items()}
        return Trial(files, twin=Trial(split_up(c, "train", "val", "test")))

    return make


def two_of_a_split(c: Carrier) -> Trial:
    files = {**split_up(c, "train", "val", "test"), **split_up(c, "train", "Valid", "test")}
    return Trial(files, place="val")


def a_class_of_the_test_data(c: Carrier) -> Trial:
    more = {f"d/test/only/00.{suffix_of(c)}": first_of(c)[1]}
    return Trial({**split_up(c, "train", "val", "test"), **more}, place="only")


FOLDERS: dict[str, Kind] = {
    "hidden files and folders": hidden_files,
    "files that are no data": other_files,
    "an image or a sound of a kind that is not read": of_another_kind,
    "endings that are less common": moved(  # a file is opened by its content
        lambda name, end: name.replace(end, {"png": "jfif", "wav": "wave"}[end])
    ),
    "endings in capitals": moved(lambda name, end: name.replace(f".{end}", f".{end.upper()}")),
    "files and folders beside those of splits": beside_splits,
    "a file beside the classes": of_classes(beside_a_class),
    "classes that look alike": of_classes(classes_that_look_alike),
    "spaces and accents in names": moved(lambda name, _: re.sub(r"(\d\d\.)", "\u00e9 \\1", name)),
    "an empty file": first_is(empty),
    "a text with the ending of an image or a sound": first_is(of_the_web),
    "a file that is cut off": first_is(lambda content: content[: len(content) // 2]),
    "folders Training, Validation, Testing": split_names("Training", "Validation", "Testing"),
    "folders Train, Valid, Test": split_names("Train", "Valid", "Test"),
    "folders train, dev, test": split_names("train", "dev", "test"),
    "folders TRAIN, VAL, TEST": split_names("TRAIN", "VAL", "TEST"),
    "folders val, test beside the classes": beside_classes("val", "test"),
    "folders Valid, Test beside the classes": beside_classes("Valid", "Test"),
    "two folders of a split": two_of_a_split,
    "folders whose names are no splits": of_classes(
        lambda c: Trial(split_up(c, "2024", "2025", "2026"), place="2024")
    ),
    "a class that only the test data have": of_classes(a_class_of_the_test_data),
    "one class": of_classes(
        lambda c: Trial({n: f for n, f in c.files.items() if n.startswith("d/a/")}, place="d")
    ),
    "no files": lambda c: Trial({"d/a/x.txt": b"x"}, place="d"),
    "no folder": lambda c: Trial({}, {"path": "missing"}, place="missing"),
}

# images and sounds, in tables, in folders and beside annotations


def first_file(c: Carrier) -> str:
    return next(name for name in c.files if name.endswith((".png", ".wav")))


def with_first(c: Carrier, content: bytes, **more: Any) -> Trial:
    name, plain = first_file(c), c.plain()
    return replace(plain, files={**plain.files, name: content}, place=name[-6:], **more)


def drawn(
    change: Callable[[Image.Image], bytes], like: Callable[[bytes], Any] | None = None
) -> Kind:
    """Another file of the first image, which is read like this image of it, or refused."""

    def make(c: Carrier) -> Trial:
        content = change(Image.open(io.BytesIO(c.files[first_file(c)])))
        twin = saved(like(content), "png") if like else None
        return with_first(c, content, twin=with_first(c, twin) if twin else None)

    return make


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def converted(mode: str) -> Kind:
    """An image in another mode must be read as its RGB version."""
    return drawn(
        lambda image: saved(image.convert(mode), "png"),
        lambda content: opened(content).convert("RGB"),
    )


def header(change: Callable[[bytes], bytes]) -> Kind:
    """Another content of the first image or sound."""
    return lambda c: with_first(c, change(c.files[first_file(c)]))


IMAGE_FILES: dict[str, Kind] = {
    "gray": converted("L"),
    "with a palette": converted("P"),
    "with transparency": converted("RGBA"),
    "black and white": converted("1"),
    "an empty file": header(empty),
    "a text named .png": header(of_the_web),
    "a JPEG named .png": drawn(lambda image: saved(image, "jpeg", quality=100), opened),
    "half an image": header(lambda content: content[:600]),
    "floating point numbers": drawn(lambda image: saved(image.convert("F"), "tiff")),
}


def sized(size: int) -> Kind:
    """Another size in the header, as programs write that don't know it yet."""

    def change(content: bytes) -> bytes:
        at, four = content.index(b"data") + 4, struct.pack("<I", size)
        return content[:4] + four + content[8:at] + four + content[at + 4 :]

    return header(change)


def chunked(content: bytes) -> bytes:
    at = content.index(b"data")
    chunk = b"LIST" + struct.pack("<I", 26) + b"INFOISFT\x0e\0\0\0Lavf58.29.100\0"
    content = content[:at] + chunk + content[at:]
    return content[:4] + struct.pack("<I", len(content) - 8) + content[8:]


SOUND_FILES: dict[str, Kind] = {
    "size FFFFFFFF, from a pipe": sized(0xFFFFFFFF),
    "size 7FFFFFFF, from a pipe": sized(0x7FFFFFFF),
    "size 7FFFF000, from SoX": sized(0x7FFFF000),
    "size 0": sized(0),
    "a chunk of notes before the data": header(chunked),
    "a chunk of notes after the data": header(lambda b: b + b"id3 \4\0\0\0ID3\0"),
    "a byte too few": header(lambda b: b[:-1]),
    "half a file": header(lambda b: b[: len(b) // 2]),
    "the header alone": header(lambda b: b[:44]),
    "half a header": header(lambda b: b[:20]),
    "an empty file": header(empty),
    "a text named .wav": header(of_the_web),
    "big-endian": header(lambda b: b"RIFX" + b[4:]),
    "0 channels": header(lambda b: b[:22] + b"\0\0" + b[24:]),
    "a rate of 0": header(lambda b: b[:24] + b"\0\0\0\0" + b[28:]),
}


def with_files(
    files: Mapping[str, bytes | None], said: str = "", place: str = "", twin: Kind | None = None
) -> Kind:
    """More files in the folder, or others, or without those that are None."""

    def make(c: Carrier) -> Trial:
        every = {**c.files, **{f"d/{name}": content for name, content in files.items()}}
        kept = {name: content for name, content in every.items() if content is not None}
        return Trial(kept, said=said, place=place, twin=twin(c) if twin else None)

    return make


def renamed(old: str, new: str, place: str = "") -> Kind:
    """Other names of files, or of those of a part, by a regular expression."""
    return lambda c: Trial({re.sub(old, new, n): x for n, x in c.files.items()}, place=place)


def masks(change: Callable[[Image.Image], Image.Image]) -> Kind:
    """A change of all masks."""

    def make(c: Carrier) -> Trial:
        changed = {n: saved(change(opened(x)), "png") for n, x in c.files.items() if "/masks/" in n}
        return Trial({**c.files, **changed}, place="d/masks")

    return make


def with_palette(mask: Image.Image) -> Image.Image:
    mask.putpalette([0, 0, 0, 255, 0, 0])
    return mask


MASKS: dict[str, Kind] = {
    "masks without an image": with_files(
        {"masks/90.png": picture(90), "masks/91.png": picture(91)},
        "ignored: 2 masks without an image, such as d/masks/90.png",
    ),
    "an image without a mask": with_files({"images/90.png": picture(90)}, place="images/90.png"),
    "hidden files": with_files({"images/._00.png": b"Mac OS X", "masks/._00.png": b"Mac OS X"}),
    "files that are no data": with_files(
        {"images/Thumbs.db": b"x", "masks/README": b"x"}, "ignored files: 1 .db"
    ),
    "two images of one mask": with_files(
        {"images/00.jpg": picture(90, kind="jpeg")}, place="images/00.png"
    ),
    "a folder among the images": with_files(
        {"images/more/90.png": picture(90)}, place="images/more"
    ),
    "masks of a split without its images": lambda c: Trial(
        {
            **{re.sub("(images|masks)", "\\1/train", name): x for name, x in c.files.items()},
            "d/masks/val/90.png": picture(90),
        },
        place="images/val",
    ),
    "masks of colors": masks(lambda mask: mask.convert("RGB")),
    "masks of 0 and 255": masks(lambda mask: mask.point(lambda value: 255 * value)),
    "masks of another size": masks(lambda mask: mask.resize((12, 12))),
    "masks with a palette": masks(with_palette),
}


def change_coco(
    place: str = "coco.json", twin: Files | None = None, said: str = "", **changes: Any
) -> Kind:
    like = None if twin is None else Trial(twin)
    return lambda c: Trial(coco_files(**changes), place=place, twin=like, said=said)


Rows = list[dict[str, Any]]


def every(**values: Callable[[Any], Any]) -> Callable[[Rows], Rows]:
    """A change of all items: of each value by the item."""
    return lambda items: [{**x, **{k: make(x) for k, make in values.items()}} for x in items]


def one(**values: Any) -> Callable[[Rows], Rows]:
    """Other values in the fourth item."""
    return lambda items: [{**x, **values} if n == 3 else x for n, x in enumerate(items)]


def but_for(*keys: str) -> Callable[[Rows], Rows]:
    return lambda items: [{k: v for k, v in x.items() if k not in keys} for x in items]


def with_item(place: int = 0, **values: Any) -> Callable[[Rows], Rows]:
    """An item more: another one with these values."""
    return lambda items: [*items, {**items[place], **values}]


def of_marks(change: Callable[[Rows], Rows]) -> Kind:
    return change_coco(r"annotations\[\d+\]", annotations=change)


def of_images(change: Callable[[Rows], Rows]) -> Kind:
    return change_coco(r"images\[\d+\]|the image \d+", images=change)


def boxes(change: Callable[[list[float]], Any]) -> Kind:
    return of_marks(every(bbox=lambda mark: change(mark["bbox"])))


RUNS = {"size": [24, 24], "counts": [4 * 24 + 5, *[8, 16] * 9, 8, 24 * 24 - 13 * 24 - 13]}
CROWDS = {"iscrowd": lambda mark: mark["id"] % 2}
COCO: dict[str, Kind] = {
    "ids with gaps, and a category that nobody uses": change_coco(
        categories=with_item(id=90, name="root"),
        twin=coco_files(categories=with_item(id=3, name="root")),
    ),
    "two categories of one name": change_coco("categories", categories=with_item(id=9)),
    "an id of a category that is missing": of_marks(one(category_id=7)),
    "an image under two ids": of_images(with_item(id=99)),
    "an id twice": of_images(with_item()),
    "texts as ids": of_marks(every(image_id=lambda mark: str(mark["image_id"]))),
    "an image that is missing": of_images(one(file_name="lost.png")),
    "paths with backslashes": of_images(every(file_name=lambda i: f"x\\{i['file_name']}")),
    "images without sizes": of_images(but_for("width", "height")),
    "another size than the image has": of_images(one(width=48)),
    "ids that are texts": change_coco(
        images=every(id=lambda image: f"im{image['id']}"),
        annotations=every(image_id=lambda mark: f"im{mark['image_id']}"),
    ),
    "crowds as run lengths": change_coco(  # of the same pixels: 10 columns of 8
        annotations=every(**CROWDS, segmentation=lambda mark: RUNS),
        twin=coco_files(annotations=every(**CROWDS)),
    ),
    "no key annotations": with_files(
        {"_annotations.coco.json": b'{"images": [], "categories": []}'}, place="coco.json"
    ),
    "no annotations": change_coco(".", annotations=lambda marks: []),
    "images that the file does not list": with_files(
        {"90.png": picture(90)}, "ignored: 1 images that it does not list"
    ),
    "categories that look alike": change_coco(
        "categories", categories=lambda names: [names[0], {**names[1], "name": "cup\u200b"}]
    ),
    "all objects crowds": change_coco(".", annotations=every(iscrowd=lambda mark: 1)),
}
BOXES: dict[str, Kind] = {
    "boxes from 0 to 1": boxes(lambda box: [x / 24 for x in box]),
    "boxes of corners": boxes(lambda box: [box[0], box[1], 14, 13 + 9]),
    "a box outside": of_marks(one(bbox=[20, 5, 10, 8])),
    "a box of no width": change_coco(
        twin=coco_files(annotations=lambda marks: marks[:3] + marks[4:]),
        said="left out",
        annotations=one(bbox=[4, 5, 0, 8]),
    ),
    "an object twice": change_coco(
        twin=coco_files(annotations=with_item(id=99)),
        said="1 images have an object twice, and both count, as d/00.png",
        annotations=with_item(),
    ),
    "a box that is nan": of_marks(one(bbox=[4, 5, float("nan"), 8])),
    "an infinite box": of_marks(one(bbox=[4, 5, float("inf"), 8])),
    "a crowd as text": of_marks(one(iscrowd="0")),
    "texts as numbers": boxes(lambda box: [str(x) for x in box]),
    "a box of three numbers": boxes(lambda box: box[:3]),
    "no box": of_marks(lambda marks: [*marks[:3], *but_for("bbox")(marks[3:4]), *marks[4:]]),
}


def change_yolo(line: str, place: str = r"\.txt, line \d+") -> Kind:
    return lambda c: Trial(yolo_files(line), place=place)


def names_are(text: str | None, place: str = "data.yaml") -> Kind:
    return with_files({"data.yaml": text.encode() if text is not None else None}, place=place)


LINE = "{c} 0.375 0.375 0.416666 0.333333"
YOLO: dict[str, Kind] = {
    "line ends of Windows": change_yolo(f"{LINE}\r\n"),
    "BOM": change_yolo(f"\ufeff{LINE}\n"),
    "empty lines and spaces": change_yolo(f"\n {LINE} \n\n"),
    "tabs": change_yolo(LINE.replace(" ", "\t")),
    "commas": change_yolo(LINE.replace(" ", ",")),
    "a class as 0.0": change_yolo(LINE.replace("{c}", "{c}.0")),
    "classes from 1": change_yolo("2 0.375 0.375 0.416666 0.333333\n"),
    "a negative class": change_yolo("-1 0.375 0.375 0.416666 0.333333\n"),
    "a name as class": change_yolo("cup 0.375 0.375 0.416666 0.333333\n"),
    "boxes in pixels": change_yolo("{c} 9 9 10 8\n"),
    "a box outside": change_yolo("{c} 0.9 0.375 0.416666 0.333333\n"),
    "a box of no width": change_yolo("{c} 0.375 0.375 0 0.333333\n"),
    "a box that is nan": change_yolo("{c} nan 0.375 0.416666 0.333333\n"),
    "a confidence after the box": change_yolo(f"{LINE} 0.9\n"),
    "labels without an image": with_files({"labels/99.txt": b""}, place="99.txt"),
    "names as numbers": names_are("names:\n  0: cup\n  1: ball\n", ""),
    "names from 1": names_are("names:\n  1: cup\n  2: ball\n"),
    "a BOM in data.yaml": names_are("\ufeffnames: [cup, ball]\r\n", ""),
    "no data.yaml": names_are(None),
    "classes.txt among the labels": with_files({"labels/classes.txt": b"cup\nball\n"}),
    "names that YAML does not read as text": names_are("names: [yes, no]"),
    "another number of names": names_are("names: [cup, ball]\nnc: 3\n"),
    "half of the labels": with_files(
        {f"labels/{n:02}.txt": None for n in range(COUNT // 2)},
        "without objects",
        twin=with_files({f"labels/{n:02}.txt": b"" for n in range(COUNT // 2)}),
    ),
    "a name twice": names_are("names: [cup, cup]\n"),
    "names that look alike": names_are("names: [cup, cup\u200b]\n", "png"),
    "names in a list of numbers": names_are("names: [0: cup, 1: ball]\n"),
    "files that are no images": with_files({"images/Thumbs.db": b"x"}, "ignored files: 1 .db"),
    "two images of one name": with_files(
        {"images/00.jpg": picture(90, kind="jpeg")}, place="labels/00.txt"
    ),
    "labels that end in .TXT": renamed("labels/00.txt", "labels/00.TXT", "00.TXT"),
    "a path that does not exist": names_are("names: [cup, ball]\ntrain: ../elsewhere\n"),
}


def change_voc(old: str, new: str, place: str = r"\.xml", twin: Files | None = None) -> Kind:
    assert old in VOC
    like = None if twin is None else Trial(twin)
    return lambda c: Trial(voc_files(VOC.replace(old, new)), place=place, twin=like)


def voc_bytes(change: Callable[[bytes], bytes], place: str = r"\.xml") -> Kind:
    """A change of the .xml files, whatever it is."""
    return lambda c: Trial(
        {n: change(x) if n.endswith("xml") else x for n, x in c.files.items()}, place=place
    )


def listed(c: Carrier, lines: bytes, **more: Any) -> Trial:
    """The validation data in a list."""
    return Trial({**c.files, "d/ImageSets/Main/val.txt": lines}, **more)


LEFT = "<xmin>5</xmin>"
OBJECT = VOC[VOC.index("<object>") : VOC.index("</annotation>")]
SIZE_OF = "<size><width>{0}</width><height>{0}</height><depth>3</depth></size>"
VOC_FILES: dict[str, Kind] = {
    "another ending in filename": change_voc("{n:02}.png", "{n:02}.jpg"),
    "another name in filename": lambda c: Trial(
        voc_files(VOC.replace("{n:02}.png", "IMG_{n:02}.png")),
        said="24 files name an image that is not there, as 00.xml: IMG_00.png: the one of their",
    ),
    "a path of Windows as filename": change_voc("{n:02}.png", "C:\\data\\{n:02}.png"),
    "a path as filename": change_voc("{n:02}.png", "images/{n:02}.png"),
    "a filename without an ending": change_voc("{n:02}.png", "{n:02}"),
    "no filename": change_voc("<filename>{n:02}.png</filename>", ""),
    "one filename in all": change_voc("{n:02}.png", "00.png"),
    "boxes with points": change_voc(LEFT, "<xmin>5.0</xmin>"),
    "ymax first": change_voc(
        "<xmin>5</xmin><ymin>6</ymin><xmax>14</xmax><ymax>13</ymax>",
        "<ymax>13</ymax><xmax>14</xmax><ymin>6</ymin><xmin>5</xmin>",
    ),
    "a box from 0": change_voc(  # pixels are counted from 1
        LEFT, "<xmin>0</xmin>", twin=voc_files(VOC.replace(LEFT, "<xmin>1</xmin>"))
    ),
    "min and max in the wrong order": change_voc(LEFT, "<xmin>15</xmin>"),
    "a box that is nan": change_voc(LEFT, "<xmin>nan</xmin>"),
    "a box outside": change_voc("<xmax>14</xmax>", "<xmax>99</xmax>"),
    "no box": change_voc(OBJECT, "<object><name>{name}</name></object>"),
    "parts of an object": change_voc(
        "</bndbox>", "</bndbox><part><name>head</name><bndbox><xmin>1</xmin></bndbox></part>"
    ),
    "spaces around a name": change_voc("{name}", " {name} "),
    "the size of another image": change_voc("<object>", f"{SIZE_OF.format(48)}<object>"),
    "a size of 0": change_voc("<object>", f"{SIZE_OF.format(0)}<object>"),
    "the right size": change_voc("<object>", f"{SIZE_OF.format(24)}<object>"),
    "difficult as a word": change_voc(  # they are not learned
        "</bndbox>", "</bndbox><difficult>True</difficult>", place="no objects"
    ),
    "files that end in .XML": renamed(".xml", ".XML"),
    "names that look alike": voc_bytes(
        lambda text: text.replace(b"ball", "cup\u200b".encode()), place="png"
    ),
    "an image without an .xml file": with_files(
        {"JPEGImages/99.png": picture(99)}, "1 files without an .xml file"
    ),
    "no name": change_voc("<name>{name}</name>", ""),
    "images that end in capitals": renamed(".png", ".PNG"),
    "a list with numbers and line ends of Windows": lambda c: listed(
        c, b"00  1\r\n01 -1\r\n\r\n", twin=listed(c, b"00\n01\n")
    ),
    "a list of names with endings": lambda c: listed(c, b"00.png\n", place="val.txt"),
    "a DOCTYPE": change_voc("<annotation>", "<!DOCTYPE annotation>\n<annotation>"),
    "BOM and line ends of Windows": voc_bytes(of_windows),
    "declared UTF-8": voc_bytes(lambda text: b'<?xml version="1.0" encoding="UTF-8"?>\n' + text),
    "declared Latin-1, with an accent": voc_bytes(
        lambda text: b'<?xml version="1.0" encoding="ISO-8859-1"?><!-- \xe9 -->\n' + text
    ),
    "UTF-16": voc_bytes(
        lambda text: ('<?xml version="1.0" encoding="utf-16"?>\n' + text.decode()).encode("utf-16")
    ),
    "half a file": voc_bytes(lambda text: text[:60]),
    "an empty file": voc_bytes(empty),
}

GRIDS: list[tuple[str, dict[str, Kind], list[Carrier]]] = [
    ("Tables", TABLES, [c for c in CARRIERS if c.csv]),
    ("Rows of JSON", OBJECTS, [c for c in CARRIERS if c.json]),
    ("Folders", FOLDERS, [c for c in CARRIERS if not c.rows and "," not in c.name]),
    ("Sounds", SOUND_FILES, [c for c in CARRIERS if any(n.endswith(".wav") for n in c.files)]),
    ("Images", IMAGE_FILES, [c for c in CARRIERS if any(n.endswith(".png") for n in c.files)]),
    ("Masks", MASKS, [c for c in CARRIERS if c.name == "semantic_segmentation, folder"]),
    ("COCO files", COCO, [c for c in CARRIERS if c.name.endswith("coco")]),
    ("Boxes of COCO files", BOXES, [c for c in CARRIERS if c.name == "object_detection, coco"]),
    ("YOLO files", YOLO, [c for c in CARRIERS if c.name.endswith("yolo")]),
    ("VOC files", VOC_FILES, [c for c in CARRIERS if c.name.endswith("voc")]),
]
