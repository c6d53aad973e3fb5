"""Data that an answer names are looked at: what is said of them, and how little is read."""

import json
import os
import sys
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from scaffold.answers.data import look_at_data
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from support.command_line import Cli
from support.files import write_files

TASKS = {
    "text_classification": ("csv", ["text_columns=text"]),
    "tabular_classification": ("csv", ["target=label"]),
    "tabular_regression": ("csv", ["target=size"]),
    "seq2seq": ("csv", []),
    "token_classification": ("conll", []),
    "question_answering": ("squad", []),
    "embeddings": ("files", []),
    "language_model": ("text", []),
    "masked_language_model": ("text", []),
    "multiple_choice": ("file", []),
    "sft": ("jsonl", []),
    "dpo": ("jsonl", []),
    "reward_model": ("jsonl", []),
    "forecasting": ("file", []),
    "image_classification": ("image_folder", []),
    "gan": ("image_folder", []),
    "audio_classification": ("files", []),
    "speech_recognition": ("files", []),
}


@pytest.fixture(autouse=True)
def in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def look(task: str, path: str, *more: str) -> str:
    """What is said of the data."""
    dataset, columns = TASKS[task]
    given = dict(x.split("=") for x in [f"dataset={dataset}", f"path={path}", *columns, *more])
    catalog = load_catalog()
    answers = resolve(
        catalog, {"project.task": task} | {f"{task}.{k}": v for k, v in given.items()}
    )
    return "\n".join(map(str, look_at_data(catalog, answers, [Path.cwd()]).values()))


def table(head: str, rows: Iterable[str]) -> str:
    return "\n".join([head, *rows]) + "\n"


ROWS = [f"words {row},{'ab'[row % 2]}" for row in range(20)]
TEXTS = table("text,label", ROWS)
SIZES = table("id,size", [f"{row},{row}.5" for row in range(20)])
SERIES = table("time,value,series", [f"2026-01-{row + 1:02},{row or ''},a" for row in range(20)])
OBJECTS = [json.dumps({"text": row, "label": "ab"[row % 2]}) for row in range(20)]
PAIRS = table("source,target", ["a,b"] * 20)
COMMAS = table("id\tanchor\tpositive", [f"{row}\ta, b\tc" for row in range(20)])
TAGGED = "# a comment\n-DOCSTART- O\n\n" + "Bo B-PER\nLi I-PER\nleft O\n# O\n\n" * 20
SQUAD = json.dumps(
    {"data": [{"paragraphs": [{"context": str(n), "qas": [{}, {}]}]} for n in range(12)]}
)
ONE_TEXT = '{"data": [{"paragraphs": [{"context": "a", "qas": [{}]}]}]}'
TURNS = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
ASKED = json.dumps({"messages": TURNS[:1]}) + "\n"
PROMPTS = json.dumps([{"prompt": "a", "completion": "b"}] * 20 + [{"prompt": "a"}])
CHATS = (json.dumps({"messages": TURNS}) + "\n") * 20
GOOD = [
    ("text_classification", "csv", TEXTS, "2 columns: text, label; 2 classes in label: a (10), b"),
    ("text_classification", "jsonl", "\n".join(OBJECTS), "2 columns: text, label; 2 classes"),
    ("tabular_regression", "csv", SIZES, "2 columns: id, size"),
    (
        "tabular_classification",
        "csv",
        table("n,code,day,text,label", [f"1.5,0{n},2026-01-02,b,{n % 2}" for n in range(20)]),
        "5 columns: n, code, day, text, label; 2 classes in label: 0 (10), 1 (10); numbers: n; "
        "dates: day; categories: code, text",
    ),
    ("multiple_choice", "jsonl", "\n".join(OBJECTS), "2 columns: text, label"),
    ("forecasting", "csv", SERIES, "3 columns: time, value, series"),
    ("seq2seq", "csv", PAIRS, ""),
    ("sft", "jsonl", CHATS, "1 column: messages; 40 messages: user (20), assistant (20)"),
    ("sft", "jsonl", CHATS.replace("role", "from").replace("content", "value"), "1 column"),
    ("sft", "json", json.dumps(list(map(json.loads, CHATS.splitlines()))), "1 column: messages"),
    ("dpo", "jsonl", '{"prompt": "a", "chosen": "b", "rejected": "c"}\n' * 20, "3 columns"),
    ("embeddings", "csv", table("anchor,positive", ROWS), "2 columns: anchor, positive"),
    ("embeddings", "tsv", COMMAS, "3 columns: id, anchor, positive"),
    ("seq2seq", "tsv", PAIRS.replace(",", "\t"), ""),
]


def test_a_table_of_images_is_looked_at() -> None:
    """Its columns have other names than those of texts."""
    Path("t.csv").write_text(table("image,text", ROWS), encoding="utf-8")
    assert "2 columns: image, text" in look("embeddings", "t.csv", "dataset=images")
    found = look("embeddings", "t.csv", "dataset=images", "pair_columns=image,words")
    assert "no column 'words' (embeddings.pair_columns" in found


@pytest.mark.parametrize("cells", ["a,b|b||a", "['a', 'b']|['b']|[]|['a']", '["a","b"]|["b"]|()|a'])
def test_labels_are_counted_as_training_reads_them(cells: str) -> None:
    rows = [json.dumps({"text": "x", "labels": cell}) for cell in cells.split("|")] * 5
    Path("t.jsonl").write_text("\n".join(rows), encoding="utf-8")
    settings = "labels=many", "text_columns=text", "labels_column=labels"
    assert "2 labels in labels: a (10), b (10)" in look(TEXT, "t.jsonl", *settings)


@pytest.mark.parametrize(("task", "end", "text", "said"), GOOD)
def test_what_is_said_of_good_rows(task: str, end: str, text: str, said: str) -> None:
    Path(f"t.{end}").write_text(text, encoding="utf-8")
    found = look(task, f"t.{end}")
    assert found.startswith("; ".join(filter(None, [f"t.{end}: 20 rows", said])))
    assert "problem" not in found


def test_what_is_said_of_tagged_words() -> None:
    Path("t.conll").write_text(TAGGED)
    assert look("token_classification", "t.conll") == "t.conll: 20 sentences; 1 type: PER"
    rows = '{"tokens": ["Bo"], "tags": ["B-PER"]}\n' * 20
    Path("t.jsonl").write_text(rows)
    assert look("token_classification", "t.jsonl") == "t.jsonl: 20 rows; 2 columns: tokens, tags"


def test_what_is_said_of_questions() -> None:
    Path("t.json").write_text(SQUAD)
    assert look("question_answering", "t.json") == "t.json: 24 questions; 12 texts"
    row = {"question": "?", "answers": {"text": [], "answer_start": []}}
    Path("t.jsonl").write_text("\n".join(json.dumps(row | {"context": str(n)}) for n in range(12)))
    assert look("question_answering", "t.jsonl") == "t.jsonl: 12 questions; 12 texts"
    Path("t.json").write_text(" " * 8_000_001)
    assert "read when training starts" in look("question_answering", "t.json")


TEXT, ROW_21 = "text_classification", "problem: row 21 "
BAD = [
    (TEXT, "csv", TEXTS + "a,b,c\n", ROW_21 + "has 3 fields, and the first line names 2."),
    (TEXT, "csv", TEXTS + "a\n", ROW_21 + "has 1 field, and the first line names 2."),
    (TEXT, "csv", TEXTS + "a,\n", ROW_21 + "has no label."),
    (TEXT, "csv", table("text,lable", ROWS), "Did you mean 'lable'?"),
    (TEXT, "csv", table("Text,label", ROWS), "Did you mean 'Text'?"),
    (TEXT, "csv", "text,label\n", "problem: it has no rows."),
    (TEXT, "csv", table("text,label", ROWS[::2]), "problem: all rows have the same label."),
    (TEXT, "csv", table("text,label", ROWS[:9]), "needs at least 10 rows."),
    (TEXT, "csv", "", "t.csv: the file is empty."),
    (TEXT, "csv", b"text,label\n\xff\xfe,a\n", "it can't be read: it is not UTF-8 text."),
    (TEXT, "jsonl", "\n".join([*OBJECTS, "[1]"]), ROW_21 + "is not a JSON object."),
    ("tabular_classification", "csv", TEXTS.replace(",", ";"), "not separated by commas."),
    ("tabular_regression", "csv", SIZES + "3,big\n", ROW_21 + "has the size 'big', which is no"),
    ("speech_recognition", "csv", table("file,words", ROWS), "no column 'text' (speech"),
    ("forecasting", "csv", SERIES.replace("series", "shop"), "no column 'series' (forecast"),
    ("seq2seq", "csv", "en,de\na,b\n", "no column 'source' (seq2seq.source_column)"),
    ("seq2seq", "jsonl", '{"source": "a"}\n' * 20, "no column 'target' (seq2seq.target_column)"),
    (TEXT, "csv", table("text,\x1b[31mlabel", ROWS), "2 columns: text, ?[31mlabel\n"),
    ("embeddings", "tsv", COMMAS.replace("anchor", "text"), "no column 'anchor' (embeddings.text"),
    ("language_model", "txt", " \n", "problem: the file is empty."),
    ("language_model", "jsonl", '{"words": "a"}', "it has no column 'text' (language_model.text"),
    ("masked_language_model", "jsonl", '{"text": "a"}\nb', "row 2 is not a JSON object."),
    ("token_classification", "conll", TAGGED + "Bo\n", "problem: line 104 has no word and tag"),
    ("token_classification", "conll", TAGGED + "Bo X-PER\n", "of IOB2: 'Bo X-PER'."),
    ("token_classification", "conll", "Bo O\n", "split into three parts needs at least 10 sent"),
    ("token_classification", "jsonl", '{"tokens": []}\n' * 20, "no column 'tags' (token_class"),
    ("sft", "jsonl", '{"text": "a"}\n' * 20, "problem: row 1 has no messages, and no prompt"),
    ("sft", "jsonl", '{"messages": [{"role": "user"}]}\n' * 20, "row 1: message 1 needs a role"),
    ("sft", "jsonl", ASKED * 20, "row 1: it has no assistant message."),
    ("sft", "json", PROMPTS, ROW_21 + "has no messages"),
    (
        "sft",
        "jsonl",
        (json.dumps({"messages": [TURNS[0], {**TURNS[1], "content": None}]}) + "\n") * 20,
        "row 1: message 2 needs a role and a content",
    ),
    (
        "tabular_classification",
        "csv",
        table("text,label", [f"a,{1 + n % 2}" for n in range(20)] + ["a,1.0"]),
        ROW_21 + "has the label '1.0', the same number as '1': write one.",
    ),
    (
        "tabular_regression",
        "csv",
        table("id,size", [f"{n},5" for n in range(20)] + ["2,inf"]),
        "row 21 has the size 'inf', which is not a number",
    ),
    ("dpo", "jsonl", '{"prompt": "a", "chosen": "b"}\n' * 20, "row 1 has no chosen and rejected"),
    ("reward_model", "jsonl", '{"prompt": "a", "chosen": "b"}\n' * 20, "row 1 has no chosen and"),
    ("question_answering", "json", '{"data": [1]}', "t.json: it is not JSON in SQuAD's format"),
    ("question_answering", "json", "[" * 10**6, "t.json: it is not JSON in SQuAD's format"),
    ("question_answering", "json", '{"data": []}', "problem: it has no questions."),
    ("question_answering", "jsonl", '{"context": ""}\n' * 20, "problem: a row has no 'question'."),
    ("question_answering", "json", ONE_TEXT, "three parts needs at least 10 texts"),
]


@pytest.mark.parametrize(("task", "end", "text", "said"), BAD)
def test_the_first_problem_is_said(task: str, end: str, text: str | bytes, said: str) -> None:
    Path(f"t.{end}").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert said in look(task, f"t.{end}")


def test_folders_are_looked_at_as_training_reads_them(tmp_path: Path) -> None:
    """Hidden ones are left out, splits may have other names, and others are no classes."""
    names = [f"{kind}/{number}.png" for kind in ("cat", "dog") for number in range(6)]
    hidden = ["cat/.ipynb_checkpoints/0.png", ".cache/x/0.png", "__MACOSX/cat/0.png"]
    write_files(tmp_path / "images", dict.fromkeys([*names, *hidden], ""))
    task = "image_classification"
    assert look(task, "images") == "images: 12 images; 2 classes: cat (6), dog (6)"
    for part in ("Training", "dev", "Testing"):
        write_files(tmp_path / "parts" / part, dict.fromkeys(names, ""))
    found = look(task, "parts")
    assert found == "parts: 36 images; parts: train, val, test; 2 classes: cat (6), dog (6)"
    for part in ("2024", "2025"):
        write_files(tmp_path / "years" / part, dict.fromkeys(names, ""))
    assert "problem: its folders 2024, 2025 have the same subfolders" in look(task, "years")


def test_what_is_said_of_folders(tmp_path: Path) -> None:
    names = [f"{kind}/{number}.png" for kind in ("cat", "dog") for number in range(6)]
    write_files(tmp_path / "images", dict.fromkeys([*names, "cat/notes.md"], ""))
    write_files(tmp_path / "texts", {"a.txt": "x", "b.txt": "y", "c.md": ""})
    task = "image_classification"
    assert look("gan", "images") == "images: 12 images"
    assert "problem: all images are in one class" in look(task, "images/..")
    assert "no subfolder with images" in look(task, "images/cat")
    assert "problem: a split into three parts needs" in look("gan", "images/cat")
    assert "problem: no file in it ends in .bmp, " in look("gan", "texts")
    assert look("language_model", "texts") == "texts: 2 texts"
    for part in ("train", "val", "test"):
        write_files(tmp_path / "parts" / part, dict.fromkeys(names[:3], ""))
    assert look("gan", "parts") == "parts: 9 images; parts: train, val, test"
    Path("parts/val").rename("parts/valid")
    assert look("gan", "parts") == "parts: 9 images; parts: train, val, test"
    assert look("gan", "later") == "later does not exist yet: training needs it."


def test_what_is_said_of_sounds(tmp_path: Path) -> None:
    """Folders of them, or a table of files and labels."""
    names = [f"{kind}/{number}.wav" for kind in ("cat", "dog") for number in range(6)]
    write_files(tmp_path / "sounds", dict.fromkeys([*names, "cat/notes.md"], ""))
    task = "audio_classification"
    assert look(task, "sounds") == "sounds: 12 sounds; 2 classes: cat (6), dog (6)"
    assert "problem: it has no subfolder with sounds" in look(task, "sounds/cat")
    rows = [f"sounds/{name},{name[:3]}" for name in names]
    good = table("file,label", rows)
    write_files(tmp_path, {"a.csv": good, "b.csv": good.replace("label", "kind", 1)})
    facts = "12 rows; 2 columns: file, label; 2 classes in label: cat (6), dog (6)"
    assert look(task, "a.csv") == f"a.csv: {facts}"
    assert "problem: it has no column 'label'." in look(task, "b.csv")
    write_files(tmp_path, {"c.csv": table("file,label", rows[:9])})
    assert "problem: a split into three parts needs at least 11 sounds." in look(task, "c.csv")
    (tmp_path / "d.csv").touch()
    assert look(task, "d.csv") == "d.csv: the file is empty."


def test_files_of_parts_are_looked_at_too(tmp_path: Path) -> None:
    """One that is for training alone may be small."""
    short = table("text,label", ROWS[:4])
    write_files(tmp_path, {"a.csv": short, "b.csv": short, "c.csv": short.replace("label", "kind")})
    found = look(TEXT, "a.csv", "val_path=b.csv", "test_path=c.csv")
    assert found.count("problem") == 1
    assert found.endswith("it has no column 'label' (text_classification.label_column).")


def test_little_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file without an end of lines, of many rows, of what is no file, of links in folders."""
    with Path("huge.csv").open("wb") as file:
        file.truncate(2**36)
    Path("rows.csv").write_text(TEXTS + "a,b\n" * 30_000)
    write_files(tmp_path, {"elsewhere/secret.png": "", "images/one.png": ""})
    Path("images/link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo("pipe.csv")
    begin = time.monotonic()
    assert look(TEXT, "huge.csv")
    monkeypatch.setattr("scaffold.answers.data.SECONDS", 15)  # on a busy machine
    assert "rows.csv: at least 10,000 rows" in look(TEXT, "rows.csv")
    assert "images: 1 image\n" in look("gan", "images")
    assert look(TEXT, "pipe.csv") == "pipe.csv: it is not a file."
    assert time.monotonic() - begin < 20


def test_new_says_it_above_the_next_steps(cli: Cli, tmp_path: Path) -> None:
    """As it was named, from where the command runs. It is no error, and no library is needed."""
    write_files(tmp_path, {"data/houses.csv": SIZES})
    task = "tabular_regression"
    given = [f"{task}.{x}" for x in ("dataset=csv", "path=data/houses.csv", "target=seize")]
    settings = [f"--set={x}" for x in given]
    before = set(sys.modules)
    result = cli("new", "p", "--yes", "--task", task, *settings)
    assert result.code == 0, result.err
    said = (
        "data/houses.csv: 20 rows; 2 columns: id, size\n"
        "  problem: it has no column 'seize' (tabular_regression.target). Did you mean 'size'?\n\n"
        "Next:\n"
    )
    assert said in result.out
    assert not {"torch", "pandas", "numpy"} & (set(sys.modules) - before)


@pytest.mark.parametrize("flag", ["--answers", "--from-accelerate-config"])
def test_answers_are_in_a_small_file(flag: str, tmp_path: Path, cli: Cli) -> None:
    large = tmp_path / "large.yaml"
    large.write_text("# \n" * 400_000)
    for path in ("/dev/zero", str(tmp_path), str(large)):
        result = cli("new", tmp_path / "made", "--yes", flag, path)
        assert result.code == 2 and path in result.err, result.err
        assert not (tmp_path / "made").exists()


def test_aliases_are_not_expanded(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "grows.yaml"
    lists = [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghij")]
    path.write_text("distributed_type: NO\na: &a [x]\n" + "\n".join(lists))
    result = cli("new", tmp_path / "made", "--yes", "--from-accelerate-config", path)
    assert result.code == 2 and "has an alias, as in *name" in result.err


def test_a_file_of_a_kind_of_its_own(tmp_path: Path, templates: Path) -> None:
    """A format that only training reads: a file that is missing or empty is told."""
    manifest = templates / "tasks/own/task.toml"
    option = '\n[options.database]\npath = "file"\ndefault = "my.db"\ncomment = "the data"\n'
    manifest.write_text(manifest.read_text() + option)
    catalog = load_catalog(templates)

    def told() -> str:
        answers = resolve(catalog, {"project.task": "own"})
        return str(look_at_data(catalog, answers, [tmp_path])["own.database"])

    assert told() == "my.db does not exist yet: training needs it."
    (tmp_path / "my.db").touch()
    assert told() == "my.db: the file is empty."
    (tmp_path / "my.db").write_bytes(b"\xff\x00")
    assert told() == "my.db: a file, which is read in training"
