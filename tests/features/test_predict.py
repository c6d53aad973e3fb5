"""predict.py on what a user has: the same rows on 1 and 2 processes, and errors in one line."""

import json
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from support.combinations import in_turns, often
from support.files import write_files
from support.inputs import (
    ENVIRONMENT,
    make_mnist,
    make_table,
    paint,
    paint_digits,
    prepare_inputs,
    write_conversations,
    write_lines,
    write_measurements,
    write_numbers,
    write_sound,
    write_table,
    write_texts,
)
from support.kinds import CARRIERS, Carrier, to_csv
from support.rendering import about, render, write_project
from support.training import fail, read_rows, run, said, start, succeed

pytestmark = pytest.mark.train

SHORT = ["train.py", "--epochs", "1", "--limit-batches", "3", "--batch-size", "8"]


def paint_files(folder: Path) -> list[str]:
    """A folder with two images, one in a folder below, and an image of another kind."""
    paint_digits(folder / "pictures", 2)
    paint_digits(folder / "more", 1)
    (folder / "more/0/0.png").rename(folder / "one.PNG")
    (folder / "pictures/notes.txt").write_text("no image")
    (folder / "pictures/paper.pdf").write_text("Pillow only saves these")
    return ["pictures", "one.PNG"]


def write_rows(folder: Path) -> list[str]:
    """Rows without the column to predict, with a category that training never saw."""
    path = next(folder.glob("table.*"))
    target = "kind" if path.suffix == ".csv" else "number"
    table = make_table().head(3).drop(columns=target)
    table.loc[1, "colour"] = "violet"
    write_table(table, folder / f"rows{path.suffix}")
    return [f"rows{path.suffix}"]


def write_pairs(folder: Path) -> list[str]:
    write_texts(folder / "new.csv", 2)
    return ["new.csv", "a river that is red\tbread, orange"]


def write_sounds(folder: Path) -> list[str]:
    write_sound(folder / "new/low.wav")
    write_sound(folder / "new/high.wav", rate=8000, hertz=2000)
    write_sound(folder / "short.wav", samples=100)
    return ["short.wav", "new"]


def painted(images: str) -> Callable[[Path], None]:
    return lambda folder: paint(folder / images, ["blue", "red"], 20)


Case = tuple[dict[str, Value], Callable[[Path], None] | None, Callable[[Path], list[str]]]
TABLE: dict[str, Value] = {"path": "table.csv", "target": "kind"}


def prepare_table(folder: Path) -> None:
    write_table(make_table(), folder / "table.csv")


PAIRS = about(
    "text_classification", dataset="csv", text_columns="first,second", label_column="kind"
)
PHOTOS = about("image_classification", dataset="image_folder", image_size=16)
OF_HUB = about("image_classification", dataset="huggingface", dataset_name="hub", image_size=16)
OF_HUB["image_classification.image_column"] = "image"
CASES: dict[str, Case] = {
    "digits": ({}, None, paint_files),
    "mnist": (
        about("autoencoder", dataset="mnist"),
        lambda folder: make_mnist(folder / "data/MNIST/raw"),
        paint_files,
    ),
    "photos": (PHOTOS, painted("images"), paint_files),
    "hub of photos": (OF_HUB, painted("hub/train"), paint_files),
    "autoencoder": (about("autoencoder"), None, paint_files),
    "tumors": (about("tabular_classification"), None, write_measurements("breast_cancer")),
    "table of classes": (
        about("tabular_classification", dataset="csv", **TABLE),
        prepare_table,
        write_rows,
    ),
    "table of numbers": (
        about("tabular_regression", dataset="parquet", path="table.parquet", target="number"),
        lambda folder: write_table(make_table(), folder / "table.parquet"),
        write_rows,
    ),
    "paragraphs": (about("text_classification"), None, write_lines),
    "pairs of texts": (PAIRS, lambda folder: write_texts(folder / "texts.csv", 60), write_pairs),
    "dates": (about("seq2seq"), None, lambda _: ["--json", "--length", "8", "3/4/1998", "a", ""]),
    "language": (about("language_model"), None, lambda _: ["--json", "--length=8", "f(", "b", ""]),
    "sounds": (about("audio_classification"), None, write_sounds),
    "speech": (about("speech_recognition"), None, write_sounds),
    "own": (about("own"), None, write_numbers),
    "rewards": (about("reward_model"), None, write_conversations),
}

OFTEN = {"photos", "table of classes", "pairs of texts"}  # in every run


def trained(folder: Path, given: dict[str, Value], prepare: Callable[[Path], None] | None) -> Path:
    write_files(folder, render(given))
    if prepare:
        prepare(folder)
    run(folder, *SHORT)
    return folder


@pytest.mark.parametrize("name", often(CASES, OFTEN))
def test_each_input_has_its_row(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, the same on 1 and 2 processes."""
    given, prepare, write = CASES[name]
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    folder = trained(tmp_path, given, prepare)
    script = ["predict.py", *write(folder)]
    one, two = (read_rows(run(folder, *script, processes=processes)) for processes in (1, 2))
    assert len(one) == len(two) == 3
    for row, other in zip(one, two, strict=True):
        assert row.keys() == other.keys()
        for name, value in row.items():
            if name.startswith("p_") or name in ("prediction", "error", "reward"):
                assert float(other[name]) == pytest.approx(float(value), rel=1e-4, abs=1e-6)
            else:
                assert other[name] == value
    for row in one:
        if "label" in row:
            chances = {name: float(row[name]) for name in row if name.startswith("p_")}
            assert sum(chances.values()) == pytest.approx(1)
            assert max(chances, key=lambda name: chances[name]) == f"p_{row['label']}"
    if "image" in one[0]:
        assert [row["image"] for row in one] == ["pictures/0/0.png", "pictures/1/1.png", "one.PNG"]


NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
NEW = {  # what predict.py gets of a data set: one of its files, or rows of its table
    ".png": lambda c: next(v for name, v in c.files.items() if name.endswith(".png")),
    ".wav": lambda c: next(v for name, v in c.files.items() if name.endswith(".wav")),
    ".csv": lambda c: to_csv(c.rows),
}
KINDS = {"image": ".png", "object": ".png", "semantic": ".png", "audio": ".wav", "speech": ".wav"}
KINDS |= {"autoencoder": ".png", "self": ".png", "tabular": ".csv", "forecasting": ".csv"}
OF_FILES = [c for c in CARRIERS if c.task not in ("diffusion", "gan")]


@pytest.mark.parametrize(
    "carrier",
    often(OF_FILES, [c for c in OF_FILES if c.name in ("object_detection, coco", "seq2seq")]),
    ids=lambda carrier: carrier.name.replace(", ", "-"),
)
def test_a_prediction_needs_only_its_run(carrier: Carrier, tmp_path: Path) -> None:
    """Something else may be in the place of the training data, or nothing."""
    write_files(tmp_path, render(dict(carrier.answers)))
    plain = carrier.plain()
    flags = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in (carrier.settings | plain.settings).items()
    ]
    files = {tmp_path / name: content for name, content in plain.files.items()}
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    run(tmp_path, *SHORT, "--batch-size", "2", "--output-dir", "run", *flags)
    kind = KINDS.get(carrier.task.split("_")[0], "")
    given = [f"new{kind}" if kind else "a [MASK]"] * (2 if "question" in carrier.task else 1)
    given += ["b", "c"] if carrier.task == "multiple_choice" else []
    if kind:
        (tmp_path / given[0]).write_bytes(NEW[kind](carrier))
    elif carrier.task == "reward_model":
        given = write_conversations(tmp_path)
    script = ["predict.py", *given, "--run", "run"]
    before = run(tmp_path, *script)
    for path in files:
        path.write_bytes(b"something else\n")
    changed = run(tmp_path, *script)
    for name in {Path(name).parts[0] for name in plain.files}:
        (tmp_path / name).rename(tmp_path / f"{name} is gone")
    for after in (changed, run(tmp_path, *script)):
        assert NUMBER.split(after) == NUMBER.split(before) != [""]
        one, two = ([*map(float, NUMBER.findall(text))] for text in (after, before))
        assert one == pytest.approx(two, rel=1e-4, abs=1e-6)


def test_no_image_is_too_few(tmp_path: Path) -> None:
    assert_said(trained(tmp_path, about("gan"), None), {("0",): "COUNT must be 1 or more."})


@pytest.mark.parametrize("processes", in_turns([2, 1], 2))
def test_standard_input_and_standard_output(processes: int, tmp_path: Path) -> None:
    folder = trained(tmp_path, about("seq2seq"), None)
    command = ["predict.py", "-", "--length", "4"]
    result = run(folder, *command, processes=processes, stdin="3/4/1998\n\n5 May 1980\n")
    assert len(result.split("\n")) == 3 + 1, result


def test_what_cannot_be_predicted_is_said_in_one_line(tmp_path: Path) -> None:
    from PIL import Image

    folder = write_files(tmp_path, render({}))
    paint_digits(folder / "pictures", 1)
    run(folder, *SHORT)
    (folder / "empty").mkdir()
    (folder / "broken.png").write_text("no image")
    picture = (folder / "pictures/0/0.png").read_bytes()
    (folder / "cut.png").write_bytes(picture[: len(picture) // 2])
    Image.new("I;16", (8, 8), 40_000).save(folder / "deep.png")
    for name in ("other", "cut", "unfinished"):
        shutil.copytree(folder / "runs/latest", folder / name)
    weights = folder / "cut/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    (folder / "unfinished/model.safetensors").unlink()
    expected = {
        ("missing.png",): "missing.png can't be read as an image: ",
        ("pictures", "broken.png"): "broken.png can't be read as an image: ",
        ("pictures", "cut.png"): "cut.png can't be read as an image: ",
        ("deep.png",): "deep.png can't be read as an image: save it with 8 bits for each pixel",
        ("empty",): "empty has no images.",
        ("pictures", "--run", "cut"): "cut/model.safetensors can't be loaded: ",
        ("pictures", "--run", "unfinished"): "unfinished/model.safetensors can't be loaded",
        ("pictures", "--run", "other"): "",
    }
    assert_said(folder, expected)
    model = folder / "model.py"
    # another length: within a second, Python takes a file of the same size for unchanged
    model.write_text(model.read_text().replace("channels: int = 32", "channels: int = 8"))
    refused = fail(folder, "predict.py", "pictures")
    assert "model.safetensors can't be loaded: " in refused and "size mismatch" in refused


def assert_said(folder: Path, expected: Mapping[tuple[str, ...], str]) -> None:
    """How the one line begins with which predict.py ends. It ends without an error if empty."""
    messages = said(folder, "predict.py", *expected)
    for (call, beginning), message in zip(expected.items(), messages, strict=True):
        assert "\n" not in message and message.startswith(beginning), (call, message)
        assert bool(message) == bool(beginning), (call, message)


def test_tables_that_cannot_be_predicted(tmp_path: Path) -> None:
    folder = trained(tmp_path, about("tabular_classification"), None)
    write_measurements("breast_cancer")(folder)
    lines = (folder / "rows.csv").read_text().splitlines()
    header, first, *rest = lines
    (folder / "cell.csv").write_text("\n".join([header, first, f"x{rest[0]}", rest[1]]))
    (folder / "columns.csv").write_text("a,b\n1,2\n")
    (folder / "nothing.csv").write_text(header)
    (folder / "short.csv").write_text(f"{header}\n1,2")
    expected = {
        ("cell.csv",): "cell.csv, row 2: worst fractal dimension is 'x0.08902', not a finite ",
        ("short.csv",): "short.csv, row 1 has 2 cells, and the first line names 31 columns: ",
        ("columns.csv",): "columns.csv lacks the columns mean radius, mean texture",
        ("nothing.csv",): "There is nothing to predict.",
        ("missing.csv",): "missing.csv can't be read as CSV: ",
    }
    assert_said(folder, expected)


def test_files_that_lack_what_the_model_needs(tmp_path: Path) -> None:
    given = about("tabular_classification", dataset="csv", **TABLE)
    folder = trained(tmp_path, given, prepare_table)
    table = make_table().head(4)
    table.drop(columns=["size", "colour"]).to_csv(folder / "columns.csv", index=False)
    table.assign(size=["1", "2", "large", "4"]).to_csv(folder / "cell.csv", index=False)
    (folder / "header.csv").write_text(",".join(table))
    (folder / "empty.csv").write_text("")
    lacks = "columns.csv lacks columns that the model needs: size, colour."
    large = "size is 'large', and not a finite number of 32 bits, as in the training rows"
    expected = {
        ("columns.csv",): lacks,
        ("cell.csv",): f"cell.csv, row 3: {large}",
        ("header.csv",): "header.csv has no rows.",
        ("empty.csv",): "empty.csv has no rows.",
        ("missing.csv",): "missing.csv can't be read as CSV: ",
    }
    assert_said(folder, expected)


def test_the_newest_run_that_has_ended(tmp_path: Path) -> None:
    """With and without checkpoints."""
    given: dict[str, Value] = {"features.checkpoints.enabled": False}
    folder = write_files(tmp_path, render(given))
    paint_digits(folder / "pictures", 1)
    refused = fail(folder, "predict.py", "pictures")
    assert refused == "No run in runs/ is finished: train first, or name one with --run.\n"
    for name in ("2026-01-01_00-00-00", "2026-01-02_00-00-00"):
        run(folder, *SHORT, "--output-dir", f"runs/{name}")
    unfinished = folder / "runs/2026-01-03_00-00-00"
    unfinished.mkdir()
    shutil.copy(folder / "runs/2026-01-02_00-00-00/config.json", unfinished)
    code = "from predict import load; print(load()[0].output_dir)"
    assert run(folder, "-c", code) == "runs/2026-01-02_00-00-00\n"


@pytest.mark.parametrize("task", in_turns(load_catalog().tasks, 5))
def test_the_readme_says_how_to_use_it(task: str, tmp_path: Path) -> None:
    """Its command and its Python run as they stand there."""
    folder = trained(tmp_path, about(task), None)
    readme = (folder / "README.md").read_text()
    (command,) = re.findall("^python (predict.py .*?)   #", readme, re.MULTILINE)
    (code,) = re.findall("```python\n(.*?)```", readme, re.DOTALL)
    prepare_inputs(task, folder)
    command, _, output = command.partition(" > ")
    result = succeed(start(folder, shlex.split(command)))
    assert not output or len(read_rows(result.stdout)) >= 2
    result = run(folder, "-c", f"{code}\nprint(len(rows), type(rows[0]))")
    assert re.fullmatch(r"[1-9]\d* <class 'dict'>\n", result)


def test_settings_of_a_run(tmp_path: Path) -> None:
    """With their types. Those that the script lacks are left out, new ones have defaults."""
    folder = write_files(tmp_path, render({}))
    script = folder / "config.py"
    old = script.read_text()
    field = "    limit_batches: int = 0"
    script.write_text(old.replace(field, f"    gone: int = 0\n    data: Path = Path('a')\n{field}"))
    run(folder, *SHORT, "--seed", "3", "--gone", "2", "--data", "b")
    script.write_text(
        old.replace(field, f"    data: Path = Path('a')\n    later: float = 0.5\n{field}")
    )
    code = "from predict import load; c, _ = load(); print(c.seed, c.later, repr(c.data), c.epochs)"
    assert run(folder, "-c", code) == "3 0.5 PosixPath('b') 1\n"


@pytest.mark.parametrize(
    ("task", "dataset", "given", "row"),
    [
        ("sft", "jsonl", "q=prompt,a=completion", {"q": "one", "a": "two"}),
        ("dpo", "jsonl", "q=prompt", {"q": "one", "chosen": "two", "rejected": "six"}),
        ("reward_model", "jsonl", "q=prompt", {"q": "one", "chosen": "two", "rejected": "six"}),
        (
            "question_answering",
            "squad",
            "q=question",
            {"q": "Who?", "context": "Bo.", "answers": {"text": ["Bo"], "answer_start": [0]}},
        ),
        ("multiple_choice", "file", "q=context", {"q": "a", "choices": ["b", "c"], "label": 0}),
    ],
)
def test_rows_have_the_names_of_the_training_data(
    task: str, dataset: str, given: str, row: dict[str, object], tmp_path: Path
) -> None:
    """Also those that `--rename` gave them there; a file may have the usual names instead."""
    folder = write_project(tmp_path, task, dataset=dataset, rename=given)
    usual = dict(pair.split("=") for pair in given.split(","))
    for name, keys in (("theirs", {}), ("usual", usual)):
        named = {keys.get(key, key): value for key, value in row.items()}
        (folder / f"{name}.jsonl").write_text(json.dumps(named) + "\n")
    code = "from predict import *\nconfig = Config()\n"
    code += "print(*(len(read_inputs(config, [x])) for x in ('theirs.jsonl', 'usual.jsonl')))"
    assert run(folder, "-c", code).split() in (["1", "1"], ["2", "2"])
