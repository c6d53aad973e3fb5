"""What a message advises is done: then the data are read right, or refused for another reason.

An `Advice` is a data set of `support/kinds.py` with something wrong in it, a part of the message,
and what follows it. All of a task run in one process of its project.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL.Image")

from PIL import Image

from support.combinations import in_turns
from support.kinds import CARRIERS, Row, Trial, coco_files, saved, split_up, to_csv, yolo_files
from support.paths import TEMPLATES
from support.trials import read_trials

DATA = {carrier.name: carrier for carrier in CARRIERS}


@dataclass(frozen=True)
class Advice:
    task: str  # a name in DATA
    said: str  # a regular expression: what the message advises
    wrong: Trial
    followed: Trial  # as the message says: it is read like its twin, which is the plain data set
    then: str = ""  # or refused, with this regular expression


def rows(task: str) -> tuple[Row, ...]:
    return DATA[task].rows


def set_up(trial: Trial, **settings: object) -> Trial:
    return replace(trial, settings={**trial.settings, **settings})


def written(task: str, rows: tuple[Row, ...], **settings: object) -> Trial:
    return set_up(DATA[task].written(rows), **settings)


def plain(task: str, **settings: object) -> Trial:
    return set_up(DATA[task].plain(), **settings)


def change(task: str, **cells: object) -> tuple[Row, ...]:
    """The rows, with other cells in one of them: in a table, of the training data."""
    changed = [dict(row) for row in rows(task)]
    changed[5 if task == CLASSES else 2] |= cells
    return tuple(changed)


def without(task: str) -> tuple[Row, ...]:
    return tuple(row for n, row in enumerate(rows(task)) if n != 2)


def every(task: str, column: str, cell: Any) -> tuple[Row, ...]:
    return DATA[task].mapped(column, cell)


def named(task: str, old: str, new: str) -> tuple[Row, ...]:
    """The rows with another name of a column."""
    return tuple({new if k == old else k: v for k, v in row.items()} for row in rows(task))


def beside(trial: Trial, name: str, content: bytes, **settings: object) -> Trial:
    return set_up(replace(trial, files={**trial.files, name: content}), **settings)


def read(trial: Trial, said: str = "") -> Trial:
    """It is read, and this is said of it: nothing else has the same samples."""
    return replace(trial, twin=trial, said=said)


# --- tables ---------------------------------------------------------------------------------------

CLASSES, NUMBERS = "tabular_classification", "tabular_regression"
PICTURES = "image_classification, csv"
CLIPS, TEXTS, SPEECH = "audio_classification, csv", "text_classification", "speech_recognition"


def list_tables() -> Iterator[Advice]:
    """What is said of each table, whatever it is for."""
    for task in [carrier.name for carrier in CARRIERS if carrier.csv]:
        first, *rest = to_csv(rows(task)).decode().splitlines()
        commas = "".join(f"{line}\n" for line in [first, *(f"{line}," for line in rest)])
        said = "end no (row|line) with a comma more than the (first line|header)"
        yield Advice(task, said, DATA[task].write("rows.csv", commas.encode()), plain(task))
        more = tuple({**row, "more": 5} for row in rows(task))
        twice = to_csv(more, [*DATA[task].columns, DATA[task].columns[-1]])
        wrong, renamed = DATA[task].write("rows.csv", twice), written(task, more)
        yield Advice(task, "rename (one of them|or remove one)", wrong, read(renamed))
        again = "".join(f"{line}\n" for line in [first, *rest[:4], first, *rest[4:]])
        wrong = DATA[task].write("rows.csv", again.encode())
        yield Advice(task, "names the columns again: leave it out", wrong, plain(task))
        wrong = DATA[task].write("rows.csv", to_csv(rows(task), delimiter=";"))
        yield Advice(task, "write commas instead", wrong, plain(task))


def list_classes() -> Iterator[Advice]:
    """What is said of names of classes."""
    for task in (CLASSES, PICTURES, CLIPS, TEXTS):
        label = DATA[task].label
        numbers = every(task, label, {"a": "1", "b": "2"}.__getitem__)
        wrong = written(task, (*numbers[:-1], {**numbers[-1], label: "2.0"}))
        yield Advice(task, "write it in one way in all files", wrong, written(task, numbers))
        wrong = written(task, change(task, **{label: f"{rows(task)[5][label]}\u200b"}))
        if task in (CLASSES, PICTURES):  # row 5 is one of their training data
            yield Advice(task, "looks like .*: write it in one way", wrong, plain(task))
        yield Advice(
            task, "use two|needs two", written(task, every(task, label, lambda _: "a")), plain(task)
        )
    for task in (CLASSES, TEXTS):
        label, files = DATA[task].label, dict.fromkeys(("val_path", "test_path"), "held.csv")
        held = {name: to_csv(every(task, label, name.format)) for name in ("a", "a.")}
        wrong, right = (
            beside(plain(task), "held.csv", held[name], **files) for name in ("a.", "a")
        )
        twice = written(task, (*rows(task), {**rows(task)[0], label: "a."}))
        more = beside(twice, "held.csv", held["a."], **files)
        said = "write (it as there|names as they do), or add rows (of it|to them)"
        yield Advice(task, said, wrong, read(right))
        yield Advice(task, said, wrong, read(more))


HEADER = DATA[CLASSES].write("rows.csv", to_csv(rows(CLASSES)).replace(b"\n", b",\n"))
DAYS = tuple({**row, "kind": f"2026-03-{n + 1:02}T10:00"} for n, row in enumerate(rows(CLASSES)))
MANY = tuple({**row, "name": f"n{n}"} for n, row in enumerate(rows(CLASSES) * 4))


def list_cells() -> Iterator[Advice]:
    """What is said of the columns and the cells of a table of classes."""
    made, one, all_of = partial(written, CLASSES), partial(change, CLASSES), partial(every, CLASSES)
    drop = "add Unnamed: 4 to --drop-columns"

    def without_columns(names: str) -> Trial:
        return replace(HEADER, settings={"path": "rows.csv", "drop_columns": names})

    def of_days(cell: str) -> Trial:
        return made((*DAYS[:5], {**DAYS[5], "kind": cell}, *DAYS[6:]))

    percent, renamed = made(all_of("y", "{}%".format)), named(CLASSES, "target", "label")
    slashes = all_of("kind", lambda kind: f"{ord(kind) % 10}/3/2026")
    dashes = all_of("kind", lambda kind: f"2026-03-0{ord(kind) % 10}")
    units = all_of("y", {"0.5": "1 kg", "1.5": "3", "2": "4"}.__getitem__)
    words = made(all_of("y", "{} percent".format))
    whole = made(rows(CLASSES) * 4)
    empty = read(made(one(y="")), "numbers: x, y\n")
    correct = "correct it, or leave the cell empty"
    for said, wrong, followed in [
        (drop, HEADER, without_columns("Unnamed: 4")),
        (  # another one is left out already
            drop,
            without_columns("kind"),
            without_columns("kind,Unnamed: 4").like(plain(CLASSES, drop_columns="kind")),
        ),
        ("add name to --drop-columns", made(MANY), made(MANY, drop_columns="name").like(whole)),
        ("take it out of --drop-columns", plain(CLASSES, drop_columns="knd"), plain(CLASSES)),
        ("take it out of --drop-columns", plain(CLASSES, drop_columns="target"), plain(CLASSES)),
        ("Set --target to one of", made(renamed), made(renamed, target="label")),
        ("write numbers as in 2.5, and categories with a letter", percent, plain(CLASSES)),
        ("and categories with a letter", percent, read(words, "categories of y: 0.5 percent")),
        (correct, of_days("soon"), read(of_days(""), "dates: kind")),
        (correct, of_days("soon"), read(of_days("2026-03-06T10:00"), "dates: kind")),
        (
            "write all times with one, or none",
            of_days("2026-03-06T10:00Z"),
            read(of_days("2026-03-06T10:00"), "dates: kind"),
        ),
        (
            "leave the cell empty; if it is a category, use another word",
            made(one(x="unknown")),
            read(made(one(x="")), "numbers: x, y"),
        ),
        ("write dates as in 2026-03-14", made(slashes), read(made(dashes), "dates: kind")),
        ("write numbers as in 2.5", made(one(y="2,0")), made(one(y="2.0"))),
        (r"among numbers such as [\d.]+: correct it", made(one(y="2 kg")), made(one(y="2"))),
        (
            "If all are names of categories, write no numbers with a point",
            made(one(y="2 kg")),
            read(made(units), "categories of y"),
        ),
        (correct, made(one(y="inf")), empty),
        ("use 10 or more", made(rows(CLASSES)[:9]), read(made(rows(CLASSES)[:10]))),
    ]:
        yield Advice(CLASSES, said, wrong, followed)
    then = r"row 6: y is 'other' among numbers such as [\d.]+: correct it"
    said = "if it is a category, use another word"
    yield Advice(CLASSES, said, made(one(y="NA")), made(one(y="other")), then)


def list_targets() -> Iterator[Advice]:
    """What is said of targets that are numbers."""
    made, one = partial(written, NUMBERS), partial(change, NUMBERS)
    then = "row 3 has no target, as 1 row.* drop these rows"
    said = "correct it, or leave the cell empty"
    yield Advice(NUMBERS, said, made(one(target="inf")), made(one(target="")), then)
    left = made(without(NUMBERS))
    yield Advice(NUMBERS, "drop these rows", made(one(target="")), left.like(left))
    times, small = (
        made(tuple({**row, "target": first + n} for n, row in enumerate(rows(NUMBERS))))
        for first in (1_700_000_000, 0)
    )
    yield Advice(NUMBERS, "subtract a constant", times, read(small))
    right = read(plain(NUMBERS, target="x"), "categories of kind")
    said = "set --target to a column that has"
    yield Advice(NUMBERS, said, plain(NUMBERS, target="kind"), right)


TABLES = [*list_tables(), *list_classes(), *list_cells(), *list_targets()]

# --- images and sounds ----------------------------------------------------------------------------

FOLDERS = "image_classification"
COCO, YOLO = "object_detection, coco", "object_detection, yolo"
SPLITS = split_up(DATA[FOLDERS], "train", "val", "test")
YEARS = split_up(DATA[FOLDERS], "2024", "2025", "2026")
ONE_YEAR = {n.replace("2024/", ""): x for n, x in YEARS.items() if "2024" in n}
FEW = {n: x for n, x in SPLITS.items() if int(n[-6:-4]) < 8}
TOP = {n.replace("train/", ""): x for n, x in FEW.items()}
UNREADABLE = {**DATA[FOLDERS].files, "d/a/00.png": b"<html>404</html>"}


def list_columns() -> Iterator[Advice]:
    """A column has another name."""
    for task, column, setting in (
        (PICTURES, "image", "image_column"),
        (PICTURES, "label", "label_column"),
        (TEXTS, "text", "text_columns"),
        (TEXTS, "label", "label_column"),
        ("text_classification, labels", "labels", "labels_column"),
        ("text_classification, numbers", "number", "number_column"),
        ("seq2seq", "source", "source_column"),
        ("forecasting", "time", "time_column"),
        ("forecasting", "value", "value_column"),
        ("forecasting", "series", "series_column"),
        ("language_model", "text", "text_column"),
        ("masked_language_model", "text", "text_column"),
        ("token_classification", "tokens", "words_column"),
        ("token_classification", "tags", "tags_column"),
        (SPEECH, "file", "sound_columns=other,text"),
        ("embeddings", "anchor", "text_columns=other,positive"),
        ("embeddings, images", "image", "pair_columns=other,text"),
    ):
        name, _, value = setting.partition("=")
        other, settings = named(task, column, "other"), {name: value or "other"}
        said = f"[Ss]et --.*{name.replace('_', '-')}"
        yield Advice(task, said, written(task, other), written(task, other, **settings))
    for task, column in (
        ("sft", "prompt"),
        ("sft", "completion"),
        ("dpo", "chosen"),
        ("dpo", "rejected"),
        ("multiple_choice", "choices"),
    ):
        other = named(task, column, "other")
        yield Advice(
            task,
            "set --rename",
            written(task, other),
            written(task, other, rename=f"other={column}"),
        )


def kept(files: Mapping[str, bytes], keep: Callable[[str], bool]) -> Trial:
    return Trial({name: content for name, content in files.items() if keep(name)})


def with_gray(mode: str, kind: str) -> Trial:
    image = saved(Image.new("L", (24, 24), 120).convert(mode), kind)
    return Trial({**DATA[FOLDERS].files, "d/a/00.png": image})


def list_folders() -> Iterator[Advice]:
    every, one_byte = DATA[FOLDERS].files, with_gray("L", "png")
    valid = {**SPLITS, **split_up(DATA[FOLDERS], "train", "Valid", "test")}
    for said, wrong, followed in [
        ("save it with 8 or 16", with_gray("F", "tiff"), one_byte.like(with_gray("RGB", "png"))),
        ("Put their folders into train/, val/ and test/", Trial(YEARS), read(Trial(SPLITS))),
        (
            "or name a folder that has only them",
            Trial(YEARS),
            Trial(YEARS, {"path": "d/2024"}).like(Trial(ONE_YEAR)),
        ),
        ("keep one of them", Trial(valid), read(Trial(SPLITS))),
        ("a classifier needs two", kept(every, lambda name: "/a/" in name), plain(FOLDERS)),
        ("remove it", Trial(UNREADABLE), read(kept(every, lambda name: name != "d/a/00.png"))),
        (
            "use 10, or add splits",
            kept(TOP, lambda name: "val" not in name and "test" not in name),
            Trial(TOP).like(Trial(FEW)),
        ),
        ("set --path to the one with", plain(FOLDERS, path="e"), plain(FOLDERS, path="d")),
    ]:
        yield Advice(FOLDERS, said, wrong, followed)


SHARES = coco_files(
    annotations=lambda marks: [{**m, "bbox": [x / 24 for x in m["bbox"]]} for m in marks]
)
TWICE = coco_files(images=lambda images: [*images, {**images[0], "id": 99}])
NAMES = "names:\n  {}: cup\n  {}: ball\n"
SEGMENTS, SERIES = "semantic_segmentation, coco", "forecasting"
SHORT = (*rows(SERIES), {"time": "200001", "series": "short", "value": "1"})


def but_for_a_row(task: str, said: str, **cells: object) -> Advice:
    """A row has these cells: it is left out then."""
    return Advice(
        task, said, written(task, change(task, **cells)), read(written(task, without(task)))
    )


NINE, TEN = (written(PICTURES, rows(PICTURES)[:count]) for count in (9, 10))
FIRST_AS = [{**yolo_files(), "d/data.yaml": NAMES.format(n, n + 1).encode()} for n in (0, 1)]
FILES = [
    *list_folders(),
    *list_columns(),
    *[  # a file is in two rows
        but_for_a_row(task, "keep one of them", **{key: rows(task)[7][key]})
        for task, key in ((PICTURES, "image"), (CLIPS, "file"), (SPEECH, "file"))
    ],
    but_for_a_row(PICTURES, "leave the row out", label=""),
    but_for_a_row(CLIPS, "Columns: file,label", label=""),
    Advice(PICTURES, "use 10 or more", NINE, read(TEN)),
    Advice(
        CLIPS,
        "Columns, with commas between them: file,label",
        written(CLIPS, named(CLIPS, "file", "path")),
        plain(CLIPS),
    ),
    Advice(COCO, "keep one of them", Trial(TWICE), plain(COCO)),
    Advice(COCO, "in pixels, not from 0 to 1", Trial(SHARES), plain(COCO)),
    Advice(YOLO, "numbers from 0 with a name for each", Trial(FIRST_AS[1]), Trial(FIRST_AS[0])),
    Advice(SEGMENTS, "set --classes to 3", plain(SEGMENTS, classes=2), plain(SEGMENTS, classes=3)),
    Advice(SERIES, "Leave it out, or lower", written(SERIES, SHORT), plain(SERIES)),
    Advice(SERIES, "Lower --season", plain(SERIES, season=60), plain(SERIES, season=12)),
]

# --- texts ----------------------------------------------------------------------------------------

LABELS, ANSWERS, TAGS = "text_classification, labels", "question_answering", "token_classification"
SIGNS = every(LABELS, "labels", lambda names: names.replace(",", "|"))
SIGNED, UNLABELLED = written(LABELS, SIGNS), written(LABELS, every(LABELS, "labels", lambda _: ""))
TURNS = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
LONG = [*TURNS, {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}]
OTHER = [TURNS[0], {"role": "assistant", "content": "e"}, *LONG[2:]]
SYSTEM = {"role": "system", "content": "s"}
PARTS = [{"role": "user", "content": [{"type": "image", "image": "x.png"}]}, TURNS[1]]
CALL = [TURNS[0], {"role": "function_call", "content": "{}"}, TURNS[1]]
CALLS = [TURNS[0], {"role": "assistant", "content": "", "tool_calls": [{"name": "f"}]}, TURNS[1]]


def chats(row: Row) -> Trial:
    """The plain rows, and a row more."""
    return written("sft", (*rows("sft"), row))


def pairs(**row: object) -> Trial:
    return written("dpo", (*rows("dpo"), row))


NO_ANSWER = change(ANSWERS, answers={"text": [], "answer_start": []})
RIGHT_ANSWER = change(ANSWERS, answers={"text": ["It"], "answer_start": [0]})


def tags(*names: object) -> Trial:
    return written(TAGS, every(TAGS, "tags", lambda _: [*names]))


# what the message advises, what is wrong, and what follows: read as it should be, or refused then
OF_TEXTS: dict[str, list[tuple]] = {
    "sft": [
        (
            "write its functions as tools",
            chats({"messages": TURNS, "functions": [{"name": "f"}]}),
            chats({"messages": TURNS, "tools": [{"name": "f"}]}),
            "line 25: the chat template does not write tools",
        ),
        (
            "write it like this: question=prompt",
            plain("sft", rename="prompt"),
            written("sft", named("sft", "prompt", "question"), rename="question=prompt"),
        ),
        (
            "the key system: leave one of them out",
            chats({"system": "t", "messages": [SYSTEM, *TURNS]}),
            read(chats({"messages": [SYSTEM, *TURNS]})),
        ),
        ("Leave such conversations out", chats({"messages": PARTS}), plain("sft")),
        (
            "as tool_calls of a message of the assistant",
            chats({"messages": CALL}),
            chats({"messages": CALLS}),
            "row|line 25: the chat template does not write tool_calls",
        ),
    ],
    LABELS: [
        (r"Set --label-separator '\|'", SIGNED, written(LABELS, SIGNS, label_separator="|")),
        (
            "write lists of names in JSON",
            SIGNED,
            read(
                DATA[LABELS].lines(every(LABELS, "labels", lambda names: [names.replace(",", "|")]))
            ),
        ),
        ("set --labels-column", UNLABELLED, plain(LABELS)),
    ],
    "seq2seq": [
        (
            "Add source,target above it",
            DATA["seq2seq"].write("rows.csv", to_csv(rows("seq2seq")).partition(b"\n")[2]),
            plain("seq2seq"),
        )
    ],
    "dpo": [
        (
            "cut both after the first answer that differs",
            pairs(chosen=LONG, rejected=OTHER),
            read(pairs(chosen=LONG[:2], rejected=OTHER[:2])),
        ),
        (
            "repeats another prompt: leave one of them out",
            pairs(prompt="x", chosen=LONG, rejected=LONG[:3] + OTHER[1:2]),
            read(pairs(chosen=LONG, rejected=LONG[:3] + OTHER[1:2])),
        ),
    ],
    ANSWERS: [
        (
            "write its answers like this",
            written(ANSWERS, change(ANSWERS, answers=["star sea 2"])),
            read(written(ANSWERS, RIGHT_ANSWER)),
        ),
        (
            "set --optional-answers",
            written(ANSWERS, NO_ANSWER, optional_answers=False),
            read(written(ANSWERS, NO_ANSWER, optional_answers=True)),
        ),
    ],
    TAGS: [
        ("Write their names, such as B-PER", tags(1, 0, 0), plain(TAGS)),
        ("Use O outside entities", tags("LOC", "O", "O"), plain(TAGS)),
    ],
}
WORDS = [Advice(task, *one) for task, group in OF_TEXTS.items() for one in group]
ALL = [*TABLES, *FILES, *WORDS]
# messages of lib/ that say what to do about a model, or about one class in all
ELSEWHERE = ("load both, call", "takes at most {} tokens", "All training images are in the folder")
# and of a dataset of the Hub, and of files: in test_data_files.py
ELSEWHERE += ("Too few rows for three splits", "turn it into numbers or texts")
ELSEWHERE += ("is not text in UTF-8",)
# and of the folders of folds and trials: in test_search.py and test_resume.py
ELSEWHERE += ("holds other runs", "has runs with other settings")
# and two whose pattern names the value
ELSEWHERE += (": write its {} as tools", ": there is no {} in {}. Set {}.")
TASKS = [carrier.name for carrier in CARRIERS if any(one.task == carrier.name for one in ALL)]


def try_all(task: str, folder: Path) -> dict[int, list[dict[str, str]]]:
    """What comes of each advice of a task: of the wrong data, of the right ones and their twins."""
    carrier = DATA[task]
    ours = [number for number, one in enumerate(ALL) if one.task == task]
    trials = list[Trial]()
    for one in (ALL[number] for number in ours):
        trials += [one.wrong, one.followed, one.followed.twin or carrier.plain()]
    results = read_trials(carrier, trials, folder)
    return {number: results[3 * n : 3 * n + 3] for n, number in enumerate(ours)}


@pytest.mark.train
@pytest.mark.parametrize("task", in_turns(TASKS, 4), ids=lambda task: task.replace(", ", "-"))
def test_what_a_message_advises_helps(task: str, tmp_path: Path) -> None:
    problems = []
    for number, (wrong, followed, twin) in try_all(task, tmp_path).items():
        one = ALL[number]
        if not re.search(one.said, wrong.get("refused", "")):
            problems.append((one.said, "not said, but", wrong))
        elif one.then:
            if not re.search(one.then, followed.get("refused", "")):
                problems.append((one.said, "not refused after that, but", followed))
        elif "read" not in followed or followed["read"] != twin.get("read"):
            problems.append((one.said, "not read right after that, but", followed, twin))
        elif one.followed.said not in followed["said"] + followed["lines"] + "\n":
            problems.append((one.said, one.followed.said, "is not said, but", followed))
    assert not problems


ADVICE = re.compile(
    r"(^|[:;.,] |or |and )"
    r"(set|write|leave|use|add|rename|keep|correct|drop|lower|quote|save|load|take)\b",
    re.IGNORECASE,
)


def list_messages(path: Path) -> Iterator[str]:
    """What a file of the library says when it stops, with {} for values."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            [text, *_] = node.exc.args
            parts = text.values if isinstance(text, ast.JoinedStr) else [text]
            yield "".join(str(x.value) if isinstance(x, ast.Constant) else "{}" for x in parts)


def test_each_advice_of_the_library_is_followed() -> None:
    """By one of the cases above, a part of whose pattern stands in the message."""
    parts = {part for one in ALL for part in re.split(r"[^\w ,:/=-]", one.said) if len(part) > 8}
    messages = [text for path in (TEMPLATES / "lib").glob("*.py") for text in list_messages(path)]
    advice = [text for text in messages if ADVICE.search(text)]
    assert len(advice) > 20
    untried = [text for text in advice if not any(part in text for part in (*parts, *ELSEWHERE))]
    assert untried == []
