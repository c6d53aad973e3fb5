"""Texts and tables from files: each kind of data trains, and bad input ends with a message."""

import json
from functools import partial
from pathlib import Path

import pytest

from support.adapters import MAKE_MODELS, make
from support.bad_files import refuse_paths
from support.inputs import make_table, write_table, write_texts
from support.rendering import write_project
from support.training import ask, call, fail, run, succeed

pytestmark = pytest.mark.train


def message(folder: Path, expression: str) -> str:
    """What a person reads for bad input: one message, no traceback."""
    result = call(folder, expression)
    assert result.returncode == 1 and "Traceback" not in result.stderr, result.stderr
    return result.stderr


# --- texts --------------------------------------------------------------------------------------


project = partial(write_project, task="text_classification")
TEXTS = {"dataset": "csv", "text_columns": "first,second", "label_column": "kind"}
READ_DOCUMENTS = (
    "[[part.read(n, 0, 10**9).tolist() for n in range(len(part.spans))]"
    " for part in data.load_documents({})]"
)


def test_a_language_model_learns_from_one_long_text(tmp_path: Path) -> None:
    """It is split by position: the texts of the parts, one after another, are the file."""
    answers = {"dataset": "text", "path": "long.txt", "context": 16}
    folder = write_project(tmp_path, "language_model", **answers)
    assert "long.txt can't be read" in message(folder, "data.build_datasets(config)")
    text = "".join(f"{number}: to be or not to be, é\n" for number in range(400))
    (tmp_path / "long.txt").write_text(text, encoding="utf-8", newline="")
    parts = ask(folder, "", READ_DOCUMENTS.format("config"))
    assert bytes(token for (part,) in parts for token in part).decode() == text
    shares = [len(part) / len(text.encode()) for (part,) in parts]
    assert shares == pytest.approx([0.9, 0.05, 0.05], abs=0.001)
    [written] = (tmp_path / "long.txt.tokens").glob("*.tokens")
    assert written.stat().st_size == len(text.encode()), "a byte for each token"
    before = written.stat().st_mtime_ns
    assert ask(folder, "", READ_DOCUMENTS.format("config")) == parts
    assert written.stat().st_mtime_ns == before, "it is written once"
    (tmp_path / "empty.jsonl").write_text('{"text": ""}\n' * 20)
    (tmp_path / "short.txt").write_text("a")
    short = "The training data have no text: short.txt is too short to be cut."
    refuse_paths(folder, {"empty.jsonl": "empty.jsonl has no texts.", "short.txt": short})
    (tmp_path / "val").mkdir()
    for number in range(2):
        (tmp_path / f"val/{number}.txt").write_text(f"text {number}")
    load = READ_DOCUMENTS.format("train.Config(path={!r}, val_path={!r})")
    train, val, test = ask(folder, "", load.format("long.txt", "val"))
    assert [bytes(part).decode() for part in val] == ["text 0", "text 1"]
    assert sorted(b"".join(map(bytes, [*train, *test]))) == sorted(text.encode())
    for number in range(2, 20):
        (tmp_path / f"val/{number}.txt").write_text(f"text {number}")
    assert list(map(len, ask(folder, "", load.format("val", "")))) == [16, 2, 2]
    run(folder, "train.py", "--epochs", "1", "--limit-batches", "3")


def test_a_hub_that_cannot_be_reached_is_one_line(tmp_path: Path) -> None:
    """Before the client of the Hub tries again, for 40 seconds, and says so each time."""
    folder = project(tmp_path, model="pretrained")
    # a process that is not warm: huggingface_hub reads these variables at its import
    away = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path)}
    result = fail(folder, "train.py", real=True, **away)
    assert result.count("\n") == 1
    assert result.startswith("The model 'distilbert/distilbert-base-uncased' can't be loaded")
    assert "Name a folder, connect, or log in: hf auth login" in result


def test_a_pretrained_model_is_fine_tuned(tmp_path: Path) -> None:
    """From a folder, as nothing is downloaded here; in 32 bits, whatever it was saved in."""
    write_texts(tmp_path / "texts.csv", 200)
    folder = project(tmp_path, **TEXTS, model="pretrained", pretrained_name="distilbert")
    make(MAKE_MODELS, folder, "distilbert")
    assert ask(folder, "", "str(model.build_model(config).dtype)") == "torch.float32"
    result = run(folder, "train.py", "--epochs", "1", "--batch-size", "16", processes=2)
    settings = json.loads((folder / "runs/latest/config.json").read_text())["settings"]
    assert settings["batch_size"] == 16, "the model's config.json is not the run's"
    code = "from transformers import AutoModelForSequenceClassification as Model"
    labels = "Model.from_pretrained('runs/latest/transformers').config.label2id"
    assert ask(folder, code, labels) == {"cold": 0, "warm": 1}
    reasons = {"data.build_loaders": "it is no folder here", "model.build_model": "We couldn't"}
    for load, reason in reasons.items():
        text = message(folder, f"{load}(train.Config(pretrained_name='nobody/nothing'))")
        assert f"The model 'nobody/nothing' can't be loaded: {reason}" in text
    for length, cut in (("8", True), ("250", False)):
        short = ["--limit-batches", "1", "--epochs", "1", "--max-length", length]
        result = run(folder, "train.py", *short, "--output-dir", length)
        said = "of the first 1,000 training texts fill --max-length: the rest is cut"
        assert (said in result) == cut, result
    wrong = "(data.build_tokenizer(config).add_tokens(['new']), model.build_model(config))"
    assert "embeddings: load both, call model.resize_token_embeddings" in message(folder, wrong)


MAKE_DECODER = """
from pathlib import Path
from transformers import GPT2Config, GPT2ForSequenceClassification, GPT2Tokenizer

texts = [Path("texts.csv").read_text()]
tokenizer = GPT2Tokenizer().train_new_from_iterator(texts, 300, show_progress=False)
tokenizer.padding_side = "left"
assert tokenizer.pad_token is None
tokenizer.save_pretrained("tiny")
config = GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=1, n_head=2, num_labels=3)
GPT2ForSequenceClassification(config).save_pretrained("tiny")
"""
ALONE = """
import torch
network, tokenizer = model.build_model(config).eval(), data.build_tokenizer(config)
texts = [("a", "b"), ("a longer text than the other one", "b")]
with torch.no_grad():
    batches = (data.tokenize(part, tokenizer, 64) for part in (texts, texts[:1]))
    both, alone = (network(**batch).logits for batch in batches)
worst = float((both[:1] - alone).abs().max())
long = data.tokenize([("word " * 20_000, "x " * 20_000)], tokenizer, 64)["input_ids"].shape
"""


@pytest.mark.sweep
def test_a_decoder_without_padding_classifies_texts(tmp_path: Path) -> None:
    """GPT-2, which was trained for another number of classes. Two books are a pair like others."""
    write_texts(tmp_path / "texts.csv", 100)
    tiny = str(tmp_path / "tiny")
    folder = project(tmp_path, **TEXTS, model="pretrained", pretrained_name=tiny)
    succeed(call(folder, MAKE_DECODER))
    worst, long, shape = ask(folder, ALONE, "[worst, long, list(both.shape)]")
    assert worst < 1e-5 and long == [1, 64] and shape == [2, 2]
    wrong = "model.build_model(train.Config(max_length=1025))"
    assert "takes at most 1024 tokens: lower --max-length." in message(folder, wrong)
    run(folder, "train.py", "--epochs", "1", "--batch-size", "8", processes=2)
    assert len(run(folder, "predict.py", "a\tb", "longer than that\tb").splitlines()) >= 2


# --- tables -------------------------------------------------------------------------------------


def test_columns_without_a_value_are_named(tmp_path: Path) -> None:
    folder = write_project(tmp_path, "tabular_regression", dataset="csv", target="number")
    write_table(make_table().assign(note=None, comment=None), tmp_path / "none.csv")
    none = "none.csv: no training row has a value of note, comment: add note,comment to --drop"
    refuse_paths(folder, {"none.csv": none})


def make_hard_table(rows: int = 400):
    """An id, dates, and empty cells."""
    import pandas as pd

    days = pd.date_range("2020-01-01", periods=rows).astype(str)
    table = make_table()[:rows].assign(id=range(1000, 1000 + rows), day=days)
    for name, every in (("size", 3), ("colour", 7), ("day", 5)):
        table[name] = table[name].astype(object).where(table.index % every != 0, None)
    return table.astype({"size": float}).drop(columns="number").rename(columns={"kind": "target"})


def hard_project(folder: Path, **answers: object) -> Path:
    given = {"dataset": "csv", "drop_columns": "id", **answers}
    return write_project(folder, "tabular_classification", **given)


def test_columns_follow_from_the_training_rows_alone(tmp_path: Path) -> None:
    """Other values in validation and test rows change nothing, and fit into the same columns."""
    table = make_hard_table()
    folder = hard_project(tmp_path)
    table.to_csv(tmp_path / "table.csv", index=False)
    columns = "data.fit_columns(config)"
    indices = "[[row - 1 for _, row in table.index] for table in data.split_table(config)]"
    rows = "[part[:][0].tolist() for part in data.build_datasets(config)]"
    facts = f"[__import__('dataclasses').asdict({columns}), {columns}.names, {indices}, {rows}]"
    saved, names, parts, before = ask(folder, "", facts)
    train = table.iloc[parts[0]]
    assert "id" not in saved["medians"]
    assert saved["medians"]["size"] == pytest.approx(train["size"].median())
    assert saved["first_days"] == {"day": min(train["day"].dropna())}
    assert saved["categories"] == {"colour": ["blue", "green", "red"]}
    assert saved["empty"] == ["size", "day"]
    for row, values in zip(parts[0], before[0], strict=True):
        found, cells = dict(zip(names, values, strict=True)), table.loc[row]
        empty = cells.isna()
        assert found["size is empty"] == empty["size"] and found["day is empty"] == empty["day"]
        size = saved["medians"]["size"] if empty["size"] else cells["size"]
        assert found["size"] == pytest.approx(size)
        for colour in ("blue", "green", "red"):
            assert found[f"colour={colour}"] == (cells["colour"] == colour)
    leak = parts[1] + parts[2]
    table.loc[leak, "size"], table.loc[leak, "colour"] = 1e9, "violet"
    table.loc[leak, ["day", "constant"]] = ["1950-01-01", None]
    table.to_csv(tmp_path / "table.csv", index=False)
    again, names_now, parts_now, after = ask(folder, "", facts)
    assert (again, names_now, parts_now) == (saved, names, parts), "statistics of other rows"
    assert after[0] == before[0]
    unknown = dict(zip(names, after[2][0], strict=True))
    assert {unknown[name] for name in names if name.startswith("colour=")} == {0.0}
    assert unknown["constant"] == 7 and unknown["day"] < -20000


@pytest.mark.every_run
def test_a_table_with_other_columns_is_not_resumed(tmp_path: Path) -> None:
    table, folder = make_hard_table(120), hard_project(tmp_path)
    table.to_csv(tmp_path / "table.csv", index=False)
    run(folder, "train.py", "--epochs", "1")
    saved = json.loads((folder / "runs/latest/columns.json").read_text())
    assert saved["classes"] == ["large", "small"]
    resume = ["train.py", "--epochs", "2", "--resume"]
    for name, old, new in (("columns", "red", "oslo"), ("classes", "large", "huge")):
        table.replace(old, new).to_csv(tmp_path / "table.csv", index=False)
        result = fail(folder, *resume)
        assert f"{name} was [" in result and new in result
    assert json.loads((folder / "runs/latest/columns.json").read_text()) == saved
    table.to_csv(tmp_path / "table.csv", index=False)
    run(folder, *resume)


def test_empty_cells_are_refused_by_choice(tmp_path: Path) -> None:
    folder = hard_project(tmp_path, missing="refuse")
    make_hard_table().to_csv(tmp_path / "table.csv", index=False)
    text = message(folder, "data.build_datasets(config)")
    assert "empty cells in size, colour, day: fill them" in text


def test_each_part_of_a_table_can_have_its_own_file(tmp_path: Path) -> None:
    table, folder = make_table().drop(columns="number").rename(columns={"kind": "target"}), tmp_path
    hard_project(folder, drop_columns="", val_path="val.csv", test_path="test.csv")
    table[:300].to_csv(folder / "table.csv", index=False)
    table[300:340].assign(colour="violet").to_csv(folder / "val.csv", index=False)
    table[340:].to_csv(folder / "test.csv", index=False)
    lengths = "list(map(len, data.build_datasets({})))"
    both = [lengths.format(config) for config in ("config", "train.Config(val_path='')")]
    colours = "data.fit_columns(config).categories['colour']"
    each, alone, found = ask(folder, "", f"[{', '.join([*both, colours])}]")
    assert each == [300, 40, 60] and alone == [240, 60, 60]
    assert found == ["blue", "green", "red"]
    table[300:340].assign(size="much").to_csv(folder / "val.csv", index=False)
    text = message(folder, "data.build_datasets(config)")
    assert "val.csv, row 1: size is 'much', and not a finite number" in text
    table[300:340].drop(columns="colour").to_csv(folder / "val.csv", index=False)
    text = message(folder, "data.build_datasets(config)")
    assert "val.csv lacks the column 'colour' of table.csv" in text


def test_folds_of_a_table_have_columns_of_their_own(tmp_path: Path) -> None:
    """The rows of the fold that validates decide nothing."""
    folds = {"features.cross_validation.enabled": True}
    folder = write_project(tmp_path, "tabular_regression", dataset="csv", **folds)
    make_table().drop(columns="kind").rename(columns={"number": "target"}).to_csv(
        tmp_path / "table.csv", index=False
    )
    seen = []
    for number in range(2):
        code = f"config = train.Config(cross_validation_fold={number})\n"
        code += "fitted, other, *_ = data.split_table(config)\n"
        code += "median = float(fitted['size'].astype(float).median())"
        facts = "[data.fit_columns(config).medians['size'], median, other.index.tolist()]"
        found, median, rows = ask(folder, code, facts)
        assert found == median
        seen.append(set(map(tuple, rows)))  # the file and the row
    assert all(seen) and not seen[0] & seen[1]
