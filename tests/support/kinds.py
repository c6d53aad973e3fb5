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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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

    def plain(self) -> "Trial":
        if not self.rows:
            return Trial(self.files)
        if self.csv:
            return self.write("rows.csv", to_csv(self.rows))
        return self.write("rows.jsonl", to_json(self.rows))

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


def picture(
    seed: int, size: tuple[int, int] = (24, 24), mode: str = "RGB", kind: str = "png"
) -> bytes:
    width, height = size
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    content = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(content, kind)
    return content.getvalue()


def sound(pitch: int) -> bytes:
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        wave_form = 10_000 * np.sin(2 * np.pi * pitch * np.arange(8000) / 16000)
        file.writeframes(wave_form.astype("<i2").tobytes())
    return content.getvalue()


# --- the data sets ------------------------------------------------------------------------------

COUNT = 24
WORDS = ["sun", "moon", "star", "sea", "tree", "hill"]
WORDS += ["rain", "snow", "wind", "leaf", "rock", "sand"]


def words(number: int) -> str:
    return f"{WORDS[number % 12]} {WORDS[number // 12 + number % 5]} {number}"


PICTURES = {f"p/{number:02}.png": picture(number) for number in range(COUNT)}
SOUNDS = {f"s/{number:02}.wav": sound(300 + 20 * number) for number in range(COUNT)}
MONTHS = [f"{2000 + n // 12}{1 + n % 12:02}" for n in range(60)]
SMALL = {"image_size": 16}
BOX = [4, 5, 10, 8]  # left, top, width and height


def rows(**columns: Callable[[int], Any]) -> tuple[Row, ...]:
    return tuple({name: make(n) for name, make in columns.items()} for n in range(COUNT))


def pick(*values: Any) -> Callable[[int], Any]:
    return lambda number: values[number % len(values)]


def option(task: str, **values: Value) -> dict[str, Value]:
    return {f"{task}.{name}": value for name, value in values.items()}


def folders(*names: str) -> Files:
    """Images in folders."""
    return {
        f"d/{name}/{number:02}.png": picture(100 * place + number)
        for place, name in enumerate(names)
        for number in range(COUNT)
    }


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


def yolo_files(line: str = "{c} 0.375 0.375 0.416666 0.333333\n", **more: Any) -> Files:
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
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "png")
    files = {f"d/images/{n:02}.png": picture(n) for n in range(COUNT)}
    return {**files, **{f"d/masks/{n:02}.png": content.getvalue() for n in range(COUNT)}}


def images_of(task: str) -> Carrier:
    files = {f"d/{n:02}.png": picture(n) for n in range(COUNT)}
    answers = option(task, dataset="image_folder")
    return Carrier(task, {"path": "d", **SMALL}, files, answers=answers, others=None)


CARRIERS = [
    Carrier(
        "tabular_classification",
        {},
        rows=rows(
            x=str, y=pick("0.5", "1.5", "2"), kind=pick("u", "v", "w"), target=pick("a", "b")
        ),
        csv=True,
        label="target",
        text="kind",
        number="y",
        answers=option("tabular_classification", dataset="csv"),
    ),
    Carrier(
        "tabular_regression",
        {},
        rows=rows(x=str, kind=pick("u", "v", "w"), target=pick("0.5", "1.5", "2")),
        csv=True,
        text="kind",
        number="target",
        answers=option("tabular_regression", dataset="csv"),
    ),
    Carrier(
        "text_classification",
        {},
        rows=rows(text=words, label=pick("a", "b")),
        csv=True,
        json=True,
        label="label",
        text="text",
        answers=option("text_classification", dataset="csv", text_columns="text"),
    ),
    Carrier(
        "text_classification, labels",
        {},
        rows=rows(text=words, labels=pick("a,b", "b", "a")),
        csv=True,
        json=True,
        text="text",
        answers=option("text_classification", dataset="csv", text_columns="text", labels="many"),
    ),
    Carrier(
        "text_classification, numbers",
        {},
        rows=rows(text=words, number=pick("0.5", "1.5", "2")),
        csv=True,
        json=True,
        text="text",
        number="number",
        answers=option("text_classification", dataset="csv", text_columns="text", labels="number"),
    ),
    Carrier(
        "seq2seq",
        {},
        rows=rows(source=words, target=lambda n: words(n + 1)),
        csv=True,
        json=True,
        text="target",
        answers=option("seq2seq", dataset="csv"),
    ),
    Carrier(
        "embeddings",
        {},
        rows=rows(anchor=words, positive=lambda n: words(n + 3)),
        csv=True,
        json=True,
        text="positive",
        answers=option("embeddings", dataset="files"),
    ),
    Carrier(
        "embeddings, images",
        SMALL,
        PICTURES,
        rows(image=lambda n: f"p/{n:02}.png", text=words),
        csv=True,
        json=True,
        text="text",
        file="image",
        answers=option("embeddings", dataset="images"),
    ),
    Carrier(
        "image_classification, csv",
        SMALL,
        PICTURES,
        rows(image=lambda n: f"p/{n:02}.png", label=pick("a", "b")),
        csv=True,
        label="label",
        file="image",
        option="table",
        others=("val_table", "test_table"),
        answers=option("image_classification", dataset="csv"),
    ),
    Carrier(
        "image_classification, labels",
        SMALL,
        PICTURES,
        rows(image=lambda n: f"p/{n:02}.png", labels=pick("a,b", "b", "a")),
        csv=True,
        file="image",
        option="table",
        others=("val_table", "test_table"),
        answers=option("image_classification", dataset="csv", labels="many"),
    ),
    Carrier(
        "image_classification, numbers",
        SMALL,
        PICTURES,
        rows(image=lambda n: f"p/{n:02}.png", number=pick("0.5", "1.5", "2")),
        csv=True,
        file="image",
        number="number",
        option="table",
        others=("val_table", "test_table"),
        answers=option("image_classification", dataset="csv", labels="number"),
    ),
    Carrier(
        "audio_classification, csv",
        {},
        SOUNDS,
        rows(file=lambda n: f"s/{n:02}.wav", label=pick("a", "b")),
        csv=True,
        label="label",
        file="file",
        others=None,
        answers=option("audio_classification", dataset="files"),
    ),
    Carrier(
        "speech_recognition",
        {},
        SOUNDS,
        rows(file=lambda n: f"s/{n:02}.wav", text=lambda n: WORDS[n % 12]),
        csv=True,
        json=True,
        text="text",
        file="file",
        answers=option("speech_recognition", dataset="files"),
    ),
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
        answers=option("forecasting", dataset="file"),
    ),
    Carrier(
        "sft",
        {},
        rows=rows(prompt=words, completion=lambda n: words(n + 1)),
        json=True,
        text="completion",
        answers=option("sft", dataset="jsonl"),
    ),
    Carrier(
        "dpo",
        {},
        rows=rows(prompt=words, chosen=lambda n: words(n + 1), rejected=lambda n: words(n + 2)),
        json=True,
        text="chosen",
        answers=option("dpo", dataset="jsonl"),
    ),
    Carrier(
        "reward_model",
        {},
        rows=rows(prompt=words, chosen=lambda n: words(n + 1), rejected=lambda n: words(n + 2)),
        json=True,
        text="chosen",
        answers=option("reward_model", dataset="jsonl"),
    ),
    Carrier(
        "multiple_choice",
        {},
        rows=rows(context=words, choices=pick(["x", "y"], ["x", "z"]), label=pick(0, 1)),
        json=True,
        text="context",
        answers=option("multiple_choice", dataset="file"),
    ),
    Carrier(
        "question_answering",
        {},
        rows=rows(
            context=lambda n: f"It is {words(n)}.",
            question=words,
            answers=lambda n: {"text": [words(n)], "answer_start": [6]},
        ),
        json=True,
        text="question",
        answers=option("question_answering", dataset="squad"),
    ),
    Carrier(
        "token_classification",
        {},
        rows=rows(tokens=lambda n: words(n).split(), tags=pick(["B-LOC", "O", "O"])),
        json=True,
        answers=option("token_classification", dataset="conll"),
    ),
    Carrier(
        "language_model",
        {"context": 16},
        rows=rows(text=lambda n: " ".join(map(words, range(n, n + 9)))),
        json=True,
        text="text",
        answers=option("language_model", dataset="text"),
    ),
    Carrier(
        "masked_language_model",
        {"max_length": 16},
        rows=rows(text=lambda n: " ".join(map(words, range(n, n + 9)))),
        json=True,
        text="text",
        answers=option("masked_language_model", dataset="text"),
    ),
    Carrier(
        "image_classification",
        {"path": "d", **SMALL},
        folders("a", "b"),
        answers=option("image_classification", dataset="image_folder"),
        others=None,
    ),
    Carrier(
        "audio_classification",
        {"path": "d"},
        {f"d/{'ab'[n % 2]}/{n:02}.wav": sound(300 + 20 * n) for n in range(COUNT)},
        answers=option("audio_classification", dataset="files"),
        others=None,
    ),
    *[images_of(task) for task in ("autoencoder", "diffusion", "gan", "self_supervised")],
    Carrier(
        "object_detection, coco",
        {"path": "d", "image_size": 32},
        coco_files(),
        answers=option("object_detection", dataset="coco"),
    ),
    Carrier(
        "object_detection, yolo",
        {"path": "d", "image_size": 32},
        yolo_files(),
        answers=option("object_detection", dataset="yolo"),
    ),
    Carrier(
        "object_detection, voc",
        {"path": "d", "image_size": 32},
        voc_files(),
        answers=option("object_detection", dataset="voc"),
    ),
    Carrier(
        "semantic_segmentation, folder",
        {"path": "d", "image_size": 16, "classes": 2},
        masks_files(),
        answers=option("semantic_segmentation", dataset="folder"),
    ),
    Carrier(
        "semantic_segmentation, coco",
        {"path": "d", "image_size": 16, "classes": 3},
        coco_files(),
        answers=option("semantic_segmentation", dataset="coco"),
    ),
]

# --- kinds --------------------------------------------------------------------------------------

Kind = Callable[[Carrier], Trial | None]
TABLES: dict[str, Kind] = {}
OBJECTS: dict[str, Kind] = {}
FOLDERS: dict[str, Kind] = {}
SOUND_FILES: dict[str, Kind] = {}
IMAGE_FILES: dict[str, Kind] = {}
COCO: dict[str, Kind] = {}
YOLO: dict[str, Kind] = {}
BOXES: dict[str, Kind] = {}
MASKS: dict[str, Kind] = {}


def kind(table: dict[str, Kind], name: str) -> Callable[[Kind], Kind]:
    def add(function: Kind) -> Kind:
        table[name] = function
        return function

    return add


def rewritten(c: Carrier, change: Callable[[bytes], bytes], name: str = "rows.csv") -> Trial:
    """The plain table, changed as bytes."""
    return c.write(name, change(to_csv(c.rows)))


@kind(TABLES, "BOM and line ends of Windows")
def _(c: Carrier) -> Trial:
    return rewritten(c, lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))


@kind(TABLES, "all cells quoted")
def _(c: Carrier) -> Trial:
    return c.write("rows.csv", to_csv(c.rows, quoting=csv.QUOTE_ALL))


@kind(TABLES, "commas, quotes and line breaks in a cell")
def _(c: Carrier) -> Trial | None:
    column = c.text or c.label
    if not column:
        return None
    first = c.rows[0][column]
    rows = c.mapped(column, lambda cell: f'{cell}, "b"\nc' if cell == first else cell)
    trial = c.write("rows.csv", to_csv(rows))
    return trial.like(c.write("rows.jsonl", to_json(rows))) if c.json else trial


@kind(TABLES, "a comma at the end of each row")
def _(c: Carrier) -> Trial:
    def change(text: bytes) -> bytes:
        head, _, rest = text.partition(b"\n")
        return head + b"\n" + rest.replace(b"\n", b",\n")

    return rewritten(c, change).at_row()


@kind(TABLES, "a comma at the end of each line")
def _(c: Carrier) -> Trial:
    # in a table of numbers, it is a column without a name
    return replace(rewritten(c, lambda text: text.replace(b"\n", b",\n")), place="rows.csv|Unnamed")


@kind(TABLES, "an index column without a name")
def _(c: Carrier) -> Trial | None:
    if c.task.startswith("tabular"):
        return None  # it is a column like others
    numbered = tuple({"": number, **row} for number, row in enumerate(c.rows))
    return c.write("rows.csv", to_csv(numbered))


@kind(TABLES, "a row that is too short")
def _(c: Carrier) -> Trial:
    cut = b",".join(to_csv(c.rows[:1]).splitlines()[1].split(b",")[:1]) + b"\n"
    return rewritten(c, lambda text: text + cut).at_row()


@kind(TABLES, "a row that is too long")
def _(c: Carrier) -> Trial:
    more = to_csv(c.rows[:1]).splitlines()[1] + b",more\n"
    return rewritten(c, lambda text: text + more).at_row()


@kind(TABLES, "semicolons")
def _(c: Carrier) -> Trial:
    return c.write("rows.csv", to_csv(c.rows, delimiter=";"))


@kind(TABLES, "tabs in a .csv file")
def _(c: Carrier) -> Trial:
    return c.write("rows.csv", to_csv(c.rows, delimiter="\t"))


@kind(TABLES, "a .tsv file")
def _(c: Carrier) -> Trial:
    return c.write("rows.tsv", to_csv(c.rows, delimiter="\t"))


@kind(TABLES, "a .TSV file")
def _(c: Carrier) -> Trial:
    return c.write("rows.TSV", to_csv(c.rows, delimiter="\t"))


@kind(TABLES, "a quotation mark that is not closed")
def _(c: Carrier) -> Trial:
    return rewritten(c, lambda text: text + b'"' + text.splitlines()[1] + b"\n")


@kind(TABLES, "a column twice")
def _(c: Carrier) -> Trial:
    last = c.columns[-1]
    head = [*c.columns, last]
    return c.write("rows.csv", to_csv(tuple({**r, "+": r[last]} for r in c.rows), head))


@kind(TABLES, "spaces around the names of columns")
def _(c: Carrier) -> Trial:
    return c.write("rows.csv", to_csv(c.rows, [c.columns[0], *(f" {n}" for n in c.columns[1:])]))


@kind(TABLES, "names of columns in capitals")
def _(c: Carrier) -> Trial | None:
    if c.task.startswith("tabular"):
        return c.write(
            "rows.csv", to_csv(c.rows, [n.replace("target", "Target") for n in c.columns])
        )
    return c.write("rows.csv", to_csv(c.rows, [name.title() for name in c.columns]))


@kind(TABLES, "a space before a class")
def _(c: Carrier) -> Trial | None:
    if not c.label:
        return None
    rows = c.changed(**{c.label: f" {c.rows[2][c.label]}"})
    return c.write("rows.csv", to_csv(rows)).at_row()


@kind(TABLES, "an empty class or number")
def _(c: Carrier) -> Trial | None:
    column = c.label or c.number
    if not column or c.task == "forecasting":
        return None
    return c.write("rows.csv", to_csv(c.changed(**{column: ""}))).at_row()


@kind(TABLES, "an empty text or file")
def _(c: Carrier) -> Trial | None:
    column = c.file or c.text
    if c.task.startswith("tabular"):
        return None  # it counts as missing
    return c.write("rows.csv", to_csv(c.changed(**{column: " "}))).at_row()


@kind(TABLES, "classes called None, NA and nan")
def _(c: Carrier) -> Trial | None:
    if not c.label:
        return None
    odd = {"a": "None", "b": "nan"}
    rows = tuple({**row, c.label: odd[row[c.label]]} for row in c.rows)
    return c.write("rows.csv", to_csv(rows))


@kind(TABLES, "a class as 1 and as 1.0")
def _(c: Carrier) -> Trial | None:
    if not c.label:
        return None
    rows = c.mapped(c.label, lambda name: "1" if name == "a" else "2")
    rows = (*rows[:-1], {**rows[-1], c.label: "1.0"})
    return c.write("rows.csv", to_csv(rows)).at_row()


@kind(TABLES, "codes as 01 and 1")
def _(c: Carrier) -> Trial | None:
    if not c.label:
        return None
    return c.write("rows.csv", to_csv(c.mapped(c.label, {"a": "01", "b": "2A"}.__getitem__)))


@kind(TABLES, "classes that only another file has")
def _(c: Carrier) -> Trial | None:
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


@kind(TABLES, "an infinite number")
def _(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    return c.write("rows.csv", to_csv(c.changed(**{c.number: "inf"}))).at_row()


@kind(TABLES, "a number that is nan")
def _(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    trial = c.write("rows.csv", to_csv(c.changed(**{c.number: "nan"}))).at_row()
    return trial.like(c.write("rows.csv", to_csv(c.changed(**{c.number: ""}))))


@kind(TABLES, "a decimal comma")
def _(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    return c.write("rows.csv", to_csv(c.changed(**{c.number: "1,5"}))).at_row()


@kind(TABLES, "a thousands separator")
def _(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    return c.write("rows.csv", to_csv(c.changed(**{c.number: "1,234.5"}))).at_row()


@kind(TABLES, "a number with a unit")
def _(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    return c.write("rows.csv", to_csv(c.changed(**{c.number: "5 kg"}))).at_row()


@kind(TABLES, "numbers with a percent sign")
def _(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    return c.write("rows.csv", to_csv(c.mapped(c.number, "{}%".format)))


@kind(TABLES, "dates as 14/03/2026")
def _(c: Carrier) -> Trial | None:
    if not c.task.startswith("tabular"):
        return None
    dates = {"u": "14/03/2026", "v": "2026-03-14", "w": "2026-05-01"}
    return c.write("rows.csv", to_csv(c.mapped("kind", dates.__getitem__))).at_row()


@kind(TABLES, "a word for nothing among whole numbers")
def _(c: Carrier) -> Trial | None:
    return among_numbers(c, "Unknown")


@kind(TABLES, "a name among whole numbers")
def _(c: Carrier) -> Trial | None:
    trial = among_numbers(c, "x7")
    if not trial or c.name != "tabular_classification":
        return trial
    # all are categories: those of a twin come in the same order, and one value is not in it
    names = [f"n{row[c.number][0]}" for row in c.rows]
    twin = tuple({**r, c.number: n} for r, n in zip(c.rows, names, strict=True))
    twin = (*twin[:5], {**twin[5], c.number: "nx7"}, *twin[6:])
    said = "y is 'x7' and no number, as in 1 of "
    return replace(trial.like(c.write("rows.csv", to_csv(twin))), said=said)


def among_numbers(c: Carrier, word: str) -> Trial | None:
    if not c.number:
        return None
    whole = c.mapped(c.number, lambda number: number[0])
    rows = (*whole[:5], {**whole[5], c.number: word}, *whole[6:])
    return c.write("rows.csv", to_csv(rows)).at_row()


@kind(TABLES, "a word among dates")
def _(c: Carrier) -> Trial | None:
    return among_dates(c, "soon")


@kind(TABLES, "times with and without a time zone")
def _(c: Carrier) -> Trial | None:
    return among_dates(c, "2026-03-01T00:00:00+01:00")


def among_dates(c: Carrier, cell: str) -> Trial | None:
    column = {"forecasting": "time"}.get(c.task, c.text if c.task.startswith("tabular") else "")
    if not column:
        return None
    dates = [f"2026-03-{1 + number % 30:02}T00:00:00" for number in range(len(c.rows))]
    rows = [{**row, column: date} for row, date in zip(c.rows, dates, strict=True)]
    rows[5] = {**rows[5], column: cell}
    return c.write("rows.csv", to_csv(tuple(rows))).at_row()


@kind(TABLES, "the names of the columns again")
def _(c: Carrier) -> Trial:
    lines = to_csv(c.rows).splitlines(keepends=True)
    return c.write("rows.csv", b"".join([*lines[:5], lines[0], *lines[5:]])).at_row()


@kind(TABLES, "names that look alike")
def _(c: Carrier) -> Trial | None:
    column = c.label or ("series" if c.task == "forecasting" else "")
    column = "kind" if c.task.startswith("tabular") else column
    if not column:
        return None
    first = c.rows[0][column]
    rows = [{**row, column: row[column]} for row in c.rows]
    for row in [row for row in rows if row[column] == first][::2]:
        row[column] += "\u200b"  # a space of no width
    return c.write("rows.csv", to_csv(tuple(rows))).at_row()


@kind(TABLES, "a number as 1_000")
def _(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    return c.write("rows.csv", to_csv(c.changed(**{c.number: "1_000"}))).at_row()


@kind(TABLES, "a number beyond 32 bits")
def _(c: Carrier) -> Trial | None:
    if not c.number:
        return None
    return c.write("rows.csv", to_csv(c.changed(**{c.number: "1e39"}))).at_row()


@kind(TABLES, "empty lines")
def _(c: Carrier) -> Trial:
    return rewritten(c, lambda text: text.replace(b"\n", b"\n\n", 4) + b"\n\n")


@kind(TABLES, "the header alone")
def _(c: Carrier) -> Trial:
    return rewritten(c, lambda text: text.splitlines()[0] + b"\n")


@kind(TABLES, "an empty file")
def _(c: Carrier) -> Trial:
    return c.write("rows.csv", b"")


@kind(TABLES, "no file")
def _(c: Carrier) -> Trial:
    return Trial(c.files, {c.option: "missing.csv"}, place="missing.csv")


@kind(TABLES, "Latin-1")
def _(c: Carrier) -> Trial:
    return rewritten(c, lambda text: text.splitlines()[0] + b"\n\xe9" + text.partition(b"\n")[2])


@kind(TABLES, "UTF-16")
def _(c: Carrier) -> Trial:
    return rewritten(c, lambda text: text.decode().encode("utf-16"))


@kind(TABLES, "gzip")
def _(c: Carrier) -> Trial:
    return rewritten(c, gzip.compress, "rows.csv.gz")


@kind(TABLES, "an archive")
def _(c: Carrier) -> Trial:
    return c.write("rows.zip", zipped(**{"rows.csv": to_csv(c.rows), "other.csv": b"x\n"}))


@kind(TABLES, "gzip, named .csv")
def _(c: Carrier) -> Trial:
    return rewritten(c, gzip.compress)


@kind(TABLES, "an Excel file, named .csv")
def _(c: Carrier) -> Trial:
    return c.write("rows.csv", b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00\xff\xfe\x00\x9c")


@kind(TABLES, "a column that nobody reads")
def _(c: Carrier) -> Trial | None:
    if c.task.startswith("tabular"):
        return None
    more = tuple({**row, "zip": number} for number, row in enumerate(c.rows))
    return replace(c.write("rows.csv", to_csv(more)), said="zip")


@kind(TABLES, "a file in two rows")
def _(c: Carrier) -> Trial | None:
    if not c.file or c.name == "embeddings, images":
        return None  # an image may have several texts: all of them are in one part
    return c.write("rows.csv", to_csv(c.changed(**{c.file: c.rows[7][c.file]}))).at_row()


@kind(TABLES, "a file that is missing")
def _(c: Carrier) -> Trial | None:
    if not c.file:
        return None
    return c.write("rows.csv", to_csv(c.changed(**{c.file: "s/none.wav"}))).at_row()


@kind(TABLES, "paths with backslashes")
def _(c: Carrier) -> Trial | None:
    if not c.file:
        return None
    return c.write("rows.csv", to_csv(c.mapped(c.file, lambda p: p.replace("/", "\\")))).at_row()


@kind(OBJECTS, "BOM and line ends of Windows")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", b"\xef\xbb\xbf" + to_json(c.rows).replace(b"\n", b"\r\n"))


@kind(OBJECTS, "empty lines")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", to_json(c.rows).replace(b"\n", b"\n\n", 3) + b"\n\n")


@kind(OBJECTS, "a list in a .json file")
def _(c: Carrier) -> Trial:
    return c.write("rows.json", json.dumps(c.rows, indent=1).encode())


@kind(OBJECTS, "a list in a .jsonl file")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", json.dumps(c.rows).encode())


@kind(OBJECTS, "an object in several lines")
def _(c: Carrier) -> Trial:
    text = "".join(json.dumps(row, indent=1) + "\n" for row in c.rows)
    return c.write("rows.jsonl", text.encode()).at_row()


@kind(OBJECTS, "rows below a key")
def _(c: Carrier) -> Trial:
    return c.write("rows.json", json.dumps({"data": c.rows}).encode())


def named(name: str) -> Kind:
    return lambda c: c.write(name, to_json(c.rows))


OBJECTS["a .jsonlines file"] = named("rows.jsonlines")
OBJECTS["a .NDJSON file"] = named("rows.NDJSON")


@kind(OBJECTS, "a .csv file")
def _(c: Carrier) -> Trial | None:
    return None if c.csv else c.write("rows.csv", to_csv(c.rows))


@kind(OBJECTS, "gzip")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl.gz", gzip.compress(to_json(c.rows)))


@kind(OBJECTS, "an archive")
def _(c: Carrier) -> Trial:
    return c.write("rows.zip", zipped(**{"rows.jsonl": to_json(c.rows), "other.jsonl": b"{}\n"}))


@kind(OBJECTS, "half a gzip")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl.gz", gzip.compress(to_json(c.rows))[:-20])


@kind(OBJECTS, "Parquet")
def _(c: Carrier) -> Trial:
    return c.write("rows.parquet", to_parquet(c.rows))


@kind(OBJECTS, "Parquet with bytes for a text")
def _(c: Carrier) -> Trial | None:
    if not c.text:
        return None
    return c.write("rows.parquet", to_parquet(c.mapped(c.text, str.encode))).at_row()


@kind(OBJECTS, "NaN in Parquet")
def _(c: Carrier) -> Trial | None:
    column = c.label or c.number
    if not column:
        return None
    numbers = [float("nan"), *(float(number % 2) for number in range(1, COUNT))]
    changed = ({**row, column: x} for row, x in zip(c.rows, numbers, strict=True))
    return c.write("rows.parquet", to_parquet(tuple(changed))).at_row()


@kind(OBJECTS, "a key twice")
def _(c: Carrier) -> Trial:
    row = json.dumps(c.rows[0])
    first = c.columns[0]
    return c.write(
        "rows.jsonl", to_json(c.rows) + f'{{"{first}": "x", {row[1:]}\n'.encode()
    ).at_row()


@kind(OBJECTS, "a key that nobody reads")
def _(c: Carrier) -> Trial:
    more = tuple({**row, "zip": number} for number, row in enumerate(c.rows))
    return replace(c.write("rows.jsonl", to_json(more)), said="zip")


@kind(OBJECTS, "a key that is missing")
def _(c: Carrier) -> Trial | None:
    if len(c.columns) == 1:
        return c.write("rows.jsonl", to_json((*c.rows, {"other": "x"}))).at_row()
    return c.write("rows.jsonl", to_json((*c.rows, {c.columns[0]: "x"}))).at_row()


@kind(OBJECTS, "half a line")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", to_json(c.rows)[:-9]).at_row()


@kind(OBJECTS, "a line that is a list")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", to_json(c.rows) + b'["x"]\n').at_row()


@kind(OBJECTS, "null")
def _(c: Carrier) -> Trial:
    column = c.label or c.text or c.columns[-1]
    return c.write("rows.jsonl", to_json(c.changed(**{column: None}))).at_row()


@kind(OBJECTS, "NaN")
def _(c: Carrier) -> Trial:
    column = c.label or c.text or c.columns[-1]
    return c.write("rows.jsonl", to_json(c.changed(**{column: float("nan")}))).at_row()


@kind(OBJECTS, "an empty text")
def _(c: Carrier) -> Trial:
    column = c.text or c.columns[0]
    empty: Any = "" if isinstance(c.rows[0][column], str) else []
    trial = c.write("rows.jsonl", to_json(c.changed(**{column: empty}))).at_row()
    if len(c.columns) == 1:  # as if the row was not there
        return trial.like(c.write("rows.jsonl", to_json(c.rows[:2] + c.rows[3:])))
    listed = c.changed(**{column: [{"role": "assistant", "content": ""}]})  # an empty answer
    return trial.like(c.write("rows.jsonl", to_json(listed)))


@kind(OBJECTS, "a number for a text")
def _(c: Carrier) -> Trial:
    column = c.text or c.columns[0]
    trial = c.write("rows.jsonl", to_json(c.changed(**{column: 5}))).at_row()
    return trial.like(c.write("rows.jsonl", to_json(c.changed(**{column: "5"}))))


@kind(OBJECTS, "a class as 1 and as 1.0")
def _(c: Carrier) -> Trial | None:
    if not c.label:
        return None
    rows = c.mapped(c.label, lambda name: 1 if name == "a" else 2)
    return c.write("rows.jsonl", to_json((*rows[:-1], {**rows[-1], c.label: 1.0}))).at_row()


@kind(OBJECTS, "Latin-1")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", to_json(c.rows) + b'{"x": "\xe9"}\n')


@kind(OBJECTS, "UTF-16")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", to_json(c.rows).decode().encode("utf-16"))


@kind(OBJECTS, "a lone surrogate")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", to_json(c.rows) + b'{"x": "\\ud800"}\n').at_row()


@kind(OBJECTS, "an empty file")
def _(c: Carrier) -> Trial:
    return c.write("rows.jsonl", b"")


@kind(OBJECTS, "no file")
def _(c: Carrier) -> Trial:
    return Trial(c.files, {c.option: "missing.jsonl"}, place="missing.jsonl")


def without(files: Files, *names: str) -> Files:
    return {name: content for name, content in files.items() if name not in names}


def suffix_of(c: Carrier) -> str:
    return next(iter(c.files)).rpartition(".")[2]


def moved(c: Carrier, change: Callable[[str], str], place: str = "") -> Trial:
    return Trial({change(name): content for name, content in c.files.items()}, place=place)


@kind(FOLDERS, "hidden files and folders")
def _(c: Carrier) -> Trial:
    first, content = next(iter(c.files.items()))
    parent, _, name = first.rpartition("/")
    more = {f"{parent}/.ipynb_checkpoints/{name}": content, f"{parent}/._{name}": b"Mac OS X"}
    more |= {"d/.ipynb_checkpoints/x.png": content, "d/__MACOSX/x.png": b"Mac"}
    more |= {f"d/.cache/a/{name}": content}
    return Trial({**c.files, **more})


@kind(FOLDERS, "files that are no data")
def _(c: Carrier) -> Trial:
    parent = next(iter(c.files)).rpartition("/")[0]
    more = {f"{parent}/Thumbs.db": b"x", f"{parent}/README.txt": b"x", "d/notes.md": b"x"}
    return Trial({**c.files, **more}, said="ignored files: ")


@kind(FOLDERS, "an image or a sound of a kind that is not read")
def _(c: Carrier) -> Trial:
    parent, suffix = next(iter(c.files)).rpartition("/")[0], suffix_of(c)
    name = "90.heic" if suffix == "png" else "90.webm"
    return Trial({**c.files, f"{parent}/{name}": b"x"}, said=f"ignored files: 1 {name[2:]}")


@kind(FOLDERS, "endings that are less common")
def _(c: Carrier) -> Trial:
    other = {"png": "jfif", "wav": "wave"}[suffix_of(c)]  # a file is opened by its content
    return moved(c, lambda name: name.replace(suffix_of(c), other))


@kind(FOLDERS, "endings in capitals")
def _(c: Carrier) -> Trial:
    suffix = suffix_of(c)
    return moved(c, lambda name: name.replace(f".{suffix}", f".{suffix.upper()}"))


@kind(FOLDERS, "files and folders beside those of splits")
def _(c: Carrier) -> Trial:
    files = split_up(c, "train", "val", "test")
    content = next(iter(c.files.values()))
    more = {f"d/more/00.{suffix_of(c)}": content, "d/list.csv": b"x"}
    return Trial({**files, **more}, twin=Trial(files), said="d: ignored: list.csv, more")


@kind(FOLDERS, "a file beside the classes")
def _(c: Carrier) -> Trial | None:
    first, content = next(iter(c.files.items()))
    if "/" not in first.removeprefix("d/"):
        return None
    return Trial({**c.files, f"d/x.{suffix_of(c)}": content}, said="d: ignored: x.")


@kind(FOLDERS, "classes that look alike")
def _(c: Carrier) -> Trial | None:
    first, content = next(iter(c.files.items()))
    if "/" not in first.removeprefix("d/"):
        return None
    return Trial({**c.files, first.replace("d/a/", "d/a\u200b/"): content}, place="d/a")


@kind(FOLDERS, "spaces and accents in names")
def _(c: Carrier) -> Trial:
    return moved(c, lambda name: re.sub(r"(\d\d\.)", "\u00e9 \\1", name))


@kind(FOLDERS, "an empty file")
def _(c: Carrier) -> Trial:
    first = next(iter(c.files))
    return Trial({**c.files, first: b""}, place=first.rpartition("/")[2])


@kind(FOLDERS, "a text with the ending of an image or a sound")
def _(c: Carrier) -> Trial:
    first = next(iter(c.files))
    return Trial({**c.files, first: b"<html>404</html>"}, place=first.rpartition("/")[2])


@kind(FOLDERS, "a file that is cut off")
def _(c: Carrier) -> Trial:
    first, content = next(iter(c.files.items()))
    return Trial({**c.files, first: content[: len(content) // 2]}, place=first.rpartition("/")[2])


def split_up(c: Carrier, *names: str) -> Files:
    """The files in the folders of splits. One of each class, or three, are held out."""
    files = {}
    for path, content in c.files.items():
        number = int(path.rpartition("/")[2][:2])
        part = names[1] if number in (0, 1) else names[2] if number in (2, 3) else names[0]
        files[path.replace("d/", f"d/{part}/", 1)] = content
    return files


def split_names(*names: str) -> Kind:
    def make(c: Carrier) -> Trial:
        return Trial(split_up(c, *names), twin=Trial(split_up(c, "train", "val", "test")))

    return make


FOLDERS["folders Training, Validation, Testing"] = split_names("Training", "Validation", "Testing")
FOLDERS["folders Train, Valid, Test"] = split_names("Train", "Valid", "Test")
FOLDERS["folders train, dev, test"] = split_names("train", "dev", "test")
FOLDERS["folders TRAIN, VAL, TEST"] = split_names("TRAIN", "VAL", "TEST")


def beside_classes(*names: str) -> Kind:
    """Folders of validation and test data, but none of training data."""

    def make(c: Carrier) -> Trial | None:
        if names[0] != "val" and "/" not in next(iter(c.files)).removeprefix("d/"):
            return None  # without classes, they are folders like others
        files = {n.replace("d/train/", "d/"): x for n, x in split_up(c, "train", *names).items()}
        return Trial(files, twin=Trial(split_up(c, "train", "val", "test")))

    return make


FOLDERS["folders val, test beside the classes"] = beside_classes("val", "test")
FOLDERS["folders Valid, Test beside the classes"] = beside_classes("Valid", "Test")


@kind(FOLDERS, "two folders of a split")
def _(c: Carrier) -> Trial:
    files = {**split_up(c, "train", "val", "test"), **split_up(c, "train", "Valid", "test")}
    return Trial(files, place="val")


@kind(FOLDERS, "folders whose names are no splits")
def _(c: Carrier) -> Trial | None:
    if "/" not in next(iter(c.files)).removeprefix("d/"):
        return None  # without classes, all images are training data
    return Trial(split_up(c, "2024", "2025", "2026"), place="2024")


@kind(FOLDERS, "a class that only the test data have")
def _(c: Carrier) -> Trial | None:
    if "/" not in next(iter(c.files)).removeprefix("d/"):
        return None
    files = dict(split_up(c, "train", "val", "test"))
    content = next(iter(c.files.values()))
    files[f"d/test/only/00.{suffix_of(c)}"] = content
    return Trial(files, place="only")


@kind(FOLDERS, "one class")
def _(c: Carrier) -> Trial | None:
    if "/" not in next(iter(c.files)).removeprefix("d/"):
        return None
    return Trial({n: f for n, f in c.files.items() if n.startswith("d/a/")}, place="d")


@kind(FOLDERS, "no files")
def _(c: Carrier) -> Trial:
    return Trial({"d/a/x.txt": b"x"}, place="d")


@kind(FOLDERS, "no folder")
def _(c: Carrier) -> Trial:
    return Trial({}, {"path": "missing"}, place="missing")


# images and sounds, in tables, in folders and beside annotations


def first_file(c: Carrier) -> str:
    return next(name for name in c.files if name.endswith((".png", ".wav")))


def with_first(c: Carrier, content: bytes, **more: Any) -> Trial:
    name, plain = first_file(c), c.plain()
    return replace(plain, files={**plain.files, name: content}, place=name[-6:], **more)


def converted(mode: str) -> Kind:
    """An image in another mode must be read as its RGB version."""

    def make(c: Carrier) -> Trial:
        content = io.BytesIO()
        picture_of = Image.open(io.BytesIO(c.files[first_file(c)])).convert(mode)
        picture_of.save(content, "png")
        plain = io.BytesIO()
        picture_of.convert("RGB").save(plain, "png")
        return with_first(c, content.getvalue()).like(with_first(c, plain.getvalue()))

    return make


IMAGE_FILES["gray"] = converted("L")
IMAGE_FILES["with a palette"] = converted("P")
IMAGE_FILES["with transparency"] = converted("RGBA")
IMAGE_FILES["black and white"] = converted("1")


@kind(IMAGE_FILES, "an empty file")
def _(c: Carrier) -> Trial:
    return with_first(c, b"")


@kind(IMAGE_FILES, "a text named .png")
def _(c: Carrier) -> Trial:
    return with_first(c, b"<html>404</html>")


@kind(IMAGE_FILES, "a JPEG named .png")
def _(c: Carrier) -> Trial:
    content = io.BytesIO()
    Image.open(io.BytesIO(c.files[first_file(c)])).save(content, "jpeg", quality=100)
    again = io.BytesIO()
    Image.open(content).save(again, "png")
    return with_first(c, content.getvalue()).like(with_first(c, again.getvalue()))


@kind(IMAGE_FILES, "half an image")
def _(c: Carrier) -> Trial:
    return with_first(c, c.files[first_file(c)][:600])


@kind(IMAGE_FILES, "floating point numbers")
def _(c: Carrier) -> Trial:
    content = io.BytesIO()
    Image.open(io.BytesIO(c.files[first_file(c)])).convert("F").save(content, "tiff")
    return with_first(c, content.getvalue())


def header(change: Callable[[bytearray], bytes]) -> Kind:
    return lambda c: with_first(c, bytes(change(bytearray(c.files[first_file(c)]))))


def sized(size: int) -> Callable[[bytearray], bytes]:
    """Another size in the header, as programs write that don't know it yet."""

    def change(content: bytearray) -> bytes:
        at = content.index(b"data") + 4
        content[at : at + 4] = struct.pack("<I", size)
        content[4:8] = struct.pack("<I", size)
        return bytes(content)

    return change


def chunked(content: bytearray) -> bytes:
    at = content.index(b"data")
    chunk = b"LIST" + struct.pack("<I", 26) + b"INFOISFT\x0e\0\0\0Lavf58.29.100\0"
    content[at:at] = chunk
    content[4:8] = struct.pack("<I", len(content) - 8)
    return bytes(content)


SOUND_FILES["size FFFFFFFF, from a pipe"] = header(sized(0xFFFFFFFF))
SOUND_FILES["size 7FFFFFFF, from a pipe"] = header(sized(0x7FFFFFFF))
SOUND_FILES["size 7FFFF000, from SoX"] = header(sized(0x7FFFF000))
SOUND_FILES["size 0"] = header(sized(0))
SOUND_FILES["a chunk of notes before the data"] = header(chunked)
SOUND_FILES["a chunk of notes after the data"] = header(lambda b: bytes(b) + b"id3 \4\0\0\0ID3\0")
SOUND_FILES["a byte too few"] = header(lambda b: bytes(b[:-1]))
SOUND_FILES["half a file"] = header(lambda b: bytes(b[: len(b) // 2]))
SOUND_FILES["the header alone"] = header(lambda b: bytes(b[:44]))
SOUND_FILES["half a header"] = header(lambda b: bytes(b[:20]))
SOUND_FILES["an empty file"] = header(lambda b: b"")
SOUND_FILES["a text named .wav"] = header(lambda b: b"<html>404</html>")
SOUND_FILES["big-endian"] = header(lambda b: b"RIFX" + bytes(b[4:]))
SOUND_FILES["0 channels"] = header(lambda b: bytes(b[:22]) + b"\0\0" + bytes(b[24:]))
SOUND_FILES["a rate of 0"] = header(lambda b: bytes(b[:24]) + b"\0\0\0\0" + bytes(b[28:]))


def with_files(said: str = "", place: str = "", **files: bytes) -> Kind:
    """More files in a folder of images and masks: `__` is for `/`."""
    added = {f"d/{name.replace('__', '/')}.png": content for name, content in files.items()}
    return lambda c: Trial({**c.files, **added}, said=said, place=place)


def masks(change: Callable[[Image.Image], Image.Image]) -> Kind:
    """A change of all masks."""

    def make(c: Carrier) -> Trial:
        files = dict(c.files)
        for name in [name for name in files if "/masks/" in name]:
            content = io.BytesIO()
            change(Image.open(io.BytesIO(files[name]))).save(content, "png")
            files[name] = content.getvalue()
        return Trial(files, place="d/masks")

    return make


def with_palette(mask: Image.Image) -> Image.Image:
    mask.putpalette([0, 0, 0, 255, 0, 0])
    return mask


MASKS |= {
    "masks without an image": with_files(
        "ignored: 2 masks without an image, such as d/masks/90.png",
        masks__90=picture(90),
        masks__91=picture(91),
    ),
    "an image without a mask": with_files(place="images/90.png", images__90=picture(90)),
    "hidden files": lambda c: Trial(
        {**c.files, "d/images/._00.png": b"Mac OS X", "d/masks/._00.png": b"Mac OS X"}
    ),
    "files that are no data": lambda c: Trial(
        {**c.files, "d/images/Thumbs.db": b"x", "d/masks/README": b"x"}, said="ignored files: 1 .db"
    ),
    "two images of one mask": lambda c: Trial(
        {**c.files, "d/images/00.jpg": picture(90, kind="jpeg")}, place="images/00.png"
    ),
    "a folder among the images": with_files(place="images/more", images__more__90=picture(90)),
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


def boxes(change: Callable[[list[float]], Any]) -> Callable[[list[dict[str, Any]]], Any]:
    return lambda marks: [{**mark, "bbox": change(mark["bbox"])} for mark in marks]


def one(change: Callable[[dict[str, Any]], Any]) -> Callable[[list[dict[str, Any]]], Any]:
    """A change of the fourth item."""
    return lambda items: [change(dict(x)) if n == 3 else x for n, x in enumerate(items)]


AT_MARK = r"annotations\[\d+\]"
RUNS = {"size": [24, 24], "counts": [4 * 24 + 5, *[8, 16] * 9, 8, 24 * 24 - 13 * 24 - 13]}
AT_IMAGE = r"images\[\d+\]|the image \d+"
COCO |= {
    "ids with gaps, and a category that nobody uses": change_coco(
        categories=lambda names: [*names, {"id": 90, "name": "root"}],
        twin=coco_files(categories=lambda names: [*names, {"id": 3, "name": "root"}]),
    ),
    "two categories of one name": change_coco(
        "categories", categories=lambda names: [*names, {"id": 9, "name": "cup"}]
    ),
    "an id of a category that is missing": change_coco(
        AT_MARK, annotations=one(lambda m: {**m, "category_id": 7})
    ),
    "an image under two ids": change_coco(
        AT_IMAGE, images=lambda images: [*images, {**images[0], "id": 99}]
    ),
    "an id twice": change_coco(AT_IMAGE, images=lambda images: [*images, images[0]]),
    "texts as ids": change_coco(
        AT_MARK, annotations=lambda ms: [{**m, "image_id": str(m["image_id"])} for m in ms]
    ),
    "an image that is missing": change_coco(
        AT_IMAGE, images=one(lambda i: {**i, "file_name": "lost.png"})
    ),
    "paths with backslashes": change_coco(
        AT_IMAGE, images=lambda images: [{**i, "file_name": f"x\\{i['file_name']}"} for i in images]
    ),
    "images without sizes": change_coco(
        AT_IMAGE,
        images=lambda images: [{"id": i["id"], "file_name": i["file_name"]} for i in images],
    ),
    "another size than the image has": change_coco(
        AT_IMAGE, images=one(lambda i: {**i, "width": 48})
    ),
    "ids that are texts": change_coco(
        images=lambda images: [{**image, "id": f"im{image['id']}"} for image in images],
        annotations=lambda ms: [{**m, "image_id": f"im{m['image_id']}"} for m in ms],
    ),
    "crowds as run lengths": change_coco(  # of the same pixels: 10 columns of 8
        annotations=lambda ms: [{**m, "iscrowd": m["id"] % 2, "segmentation": RUNS} for m in ms],
        twin=coco_files(annotations=lambda ms: [{**m, "iscrowd": m["id"] % 2} for m in ms]),
    ),
    "no key annotations": lambda c: Trial(
        {**c.files, "d/_annotations.coco.json": b'{"images": [], "categories": []}'},
        place="_annotations.coco.json",
    ),
    "no annotations": change_coco(".", annotations=lambda marks: []),
    "images that the file does not list": lambda c: Trial(
        {**c.files, "d/90.png": picture(90)}, said="ignored: 1 images that it does not list"
    ),
    "categories that look alike": change_coco(
        "categories", categories=lambda names: [names[0], {**names[1], "name": "cup\u200b"}]
    ),
    "all objects crowds": change_coco(
        ".", annotations=lambda marks: [{**m, "iscrowd": 1} for m in marks]
    ),
}
BOXES |= {
    "boxes from 0 to 1": change_coco(AT_MARK, annotations=boxes(lambda box: [x / 24 for x in box])),
    "boxes of corners": change_coco(
        AT_MARK, annotations=boxes(lambda box: [box[0], box[1], 14, 13 + 9])
    ),
    "a box outside": change_coco(AT_MARK, annotations=one(lambda m: {**m, "bbox": [20, 5, 10, 8]})),
    "a box of no width": change_coco(
        twin=coco_files(annotations=lambda marks: [m for n, m in enumerate(marks) if n != 3]),
        said="left out",
        annotations=one(lambda m: {**m, "bbox": [4, 5, 0, 8]}),
    ),
    "an object twice": change_coco(
        twin=coco_files(annotations=lambda marks: [*marks, {**marks[0], "id": 99}]),
        said="1 images have an object twice, and both count, as d/00.png",
        annotations=lambda marks: [*marks, marks[0]],
    ),
    "a box that is nan": change_coco(
        AT_MARK, annotations=one(lambda m: {**m, "bbox": [4, 5, float("nan"), 8]})
    ),
    "an infinite box": change_coco(
        AT_MARK, annotations=one(lambda m: {**m, "bbox": [4, 5, float("inf"), 8]})
    ),
    "a crowd as text": change_coco(AT_MARK, annotations=one(lambda m: {**m, "iscrowd": "0"})),
    "texts as numbers": change_coco(AT_MARK, annotations=boxes(lambda box: [str(x) for x in box])),
    "a box of three numbers": change_coco(AT_MARK, annotations=boxes(lambda box: box[:3])),
    "no box": change_coco(
        AT_MARK, annotations=one(lambda m: {k: v for k, v in m.items() if k != "bbox"})
    ),
}


def change_yolo(line: str, place: str = r"\.txt, line \d+") -> Kind:
    return lambda c: Trial(yolo_files(line), place=place)


def yolo_with(place: str = "", **files: bytes | None) -> Kind:
    named = {name.replace("__", "/").replace("_", "."): content for name, content in files.items()}

    def make(c: Carrier) -> Trial:
        made = {**c.files, **{f"d/{name}": content for name, content in named.items()}}
        return Trial({n: x for n, x in made.items() if x is not None}, place=place)

    return make


LINE = "{c} 0.375 0.375 0.416666 0.333333"
YOLO |= {
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
    "labels without an image": yolo_with("99.txt", labels__99_txt=b""),
    "names as numbers": yolo_with(data_yaml=b"names:\n  0: cup\n  1: ball\n"),
    "names from 1": yolo_with("data.yaml", data_yaml=b"names:\n  1: cup\n  2: ball\n"),
    "a BOM in data.yaml": yolo_with(data_yaml=b"\xef\xbb\xbfnames: [cup, ball]\r\n"),
    "no data.yaml": yolo_with("data.yaml", data_yaml=None),
    "classes.txt among the labels": yolo_with(labels__classes_txt=b"cup\nball\n"),
    "names that YAML does not read as text": yolo_with("data.yaml", data_yaml=b"names: [yes, no]"),
    "another number of names": yolo_with("data.yaml", data_yaml=b"names: [cup, ball]\nnc: 3\n"),
    "half of the labels": lambda c: Trial(
        without(c.files, *(f"d/labels/{n:02}.txt" for n in range(COUNT // 2))),
        twin=Trial({**c.files, **{f"d/labels/{n:02}.txt": b"" for n in range(COUNT // 2)}}),
        said="without objects",
    ),
    "a name twice": yolo_with("data.yaml", data_yaml=b"names: [cup, cup]\n"),
    "names that look alike": yolo_with("png", data_yaml="names: [cup, cup\u200b]\n".encode()),
    "names in a list of numbers": yolo_with("data.yaml", data_yaml=b"names: [0: cup, 1: ball]\n"),
    "files that are no images": lambda c: Trial(
        {**c.files, "d/images/Thumbs.db": b"x"}, said="ignored files: 1 .db"
    ),
    "two images of one name": lambda c: Trial(
        {**c.files, "d/images/00.jpg": picture(90, kind="jpeg")}, place="labels/00.txt"
    ),
    "labels that end in .TXT": lambda c: Trial(
        {n.replace("labels/00.txt", "labels/00.TXT"): x for n, x in c.files.items()}, place="00.TXT"
    ),
    "a path that does not exist": yolo_with(
        "data.yaml", data_yaml=b"names: [cup, ball]\ntrain: ../elsewhere\n"
    ),
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


OBJECT = VOC[VOC.index("<object>") : VOC.index("</annotation>")]
SIZE_OF = "<size><width>{0}</width><height>{0}</height><depth>3</depth></size>"
VOC_FILES = {
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
    "boxes with points": change_voc("<xmin>5</xmin>", "<xmin>5.0</xmin>"),
    "ymax first": change_voc(
        "<xmin>5</xmin><ymin>6</ymin><xmax>14</xmax><ymax>13</ymax>",
        "<ymax>13</ymax><xmax>14</xmax><ymin>6</ymin><xmin>5</xmin>",
    ),
    "a box from 0": change_voc(  # pixels are counted from 1
        "<xmin>5</xmin>",
        "<xmin>0</xmin>",
        twin=voc_files(VOC.replace("<xmin>5</xmin>", "<xmin>1</xmin>")),
    ),
    "min and max in the wrong order": change_voc("<xmin>5</xmin>", "<xmin>15</xmin>"),
    "a box that is nan": change_voc("<xmin>5</xmin>", "<xmin>nan</xmin>"),
    "a box outside": change_voc("<xmax>14</xmax>", "<xmax>99</xmax>"),
    "no box": change_voc(OBJECT, "<object><name>{name}</name></object>"),
    "parts of an object": change_voc(
        "</bndbox>", "</bndbox><part><name>head</name><bndbox><xmin>1</xmin></bndbox></part>"
    ),
    "spaces around a name": change_voc("{name}", " {name} "),
    "the size of another image": change_voc("<object>", f"{SIZE_OF.format(48)}<object>"),
    "a size of 0": change_voc("<object>", f"{SIZE_OF.format(0)}<object>"),
    "the right size": change_voc("<object>", f"{SIZE_OF.format(24)}<object>"),
    "difficult as a word": change_voc(
        "</bndbox>",
        "</bndbox><difficult>True</difficult>",
        place="no objects",  # they are not learned
    ),
    "files that end in .XML": lambda c: Trial(
        {n.replace(".xml", ".XML"): x for n, x in c.files.items()}
    ),
    "names that look alike": voc_bytes(
        lambda text: text.replace(b"ball", "cup\u200b".encode()), place="png"
    ),
    "an image without an .xml file": lambda c: Trial(
        {**c.files, "d/JPEGImages/99.png": picture(99)}, said="1 files without an .xml file"
    ),
    "no name": change_voc("<name>{name}</name>", ""),
    "images that end in capitals": lambda c: Trial(
        {name.replace(".png", ".PNG"): content for name, content in c.files.items()}
    ),
    "a list with numbers and line ends of Windows": lambda c: listed(
        c, b"00  1\r\n01 -1\r\n\r\n", twin=listed(c, b"00\n01\n")
    ),
    "a list of names with endings": lambda c: listed(c, b"00.png\n", place="val.txt"),
    "a DOCTYPE": change_voc("<annotation>", "<!DOCTYPE annotation>\n<annotation>"),
    "BOM and line ends of Windows": voc_bytes(
        lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")
    ),
    "declared UTF-8": voc_bytes(lambda text: b'<?xml version="1.0" encoding="UTF-8"?>\n' + text),
    "declared Latin-1, with an accent": voc_bytes(
        lambda text: b'<?xml version="1.0" encoding="ISO-8859-1"?><!-- \xe9 -->\n' + text
    ),
    "UTF-16": voc_bytes(
        lambda text: ('<?xml version="1.0" encoding="utf-16"?>\n' + text.decode()).encode("utf-16")
    ),
    "half a file": voc_bytes(lambda text: text[:60]),
    "an empty file": voc_bytes(lambda text: b""),
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


def list_trials() -> Iterator[tuple[str, str, Carrier, Trial | None]]:
    for title, kinds, carriers in GRIDS:
        for name, make in kinds.items():
            for carrier in carriers:
                yield title, name, carrier, make(carrier)
