"""A project with the data that a newcomer has: few samples, one of a class, a constant column.

Its own tests pass, and its script trains or says in one line what to change.
"""

import json
from pathlib import Path
from random import Random

import pytest

from support.combinations import in_turns
from support.files import replace_in, write_files
from support.inputs import write_rows, write_sound
from support.rendering import render, write_project
from support.training import ask, count_passed, run, run_tests, said, start

pytestmark = pytest.mark.train

# what a project needs to read the files of `write_data`
ANSWERS = {
    "tabular_classification": {"dataset": "csv"},
    "tabular_regression": {"dataset": "csv"},
    "text_classification": {"dataset": "csv", "text_columns": "text"},
    "image_classification": {"dataset": "image_folder", "path": "images", "image_size": 8},
    "audio_classification": {"dataset": "files", "seconds": 0.1},
    "gan": {"dataset": "image_folder", "image_size": 32},
    "autoencoder": {"dataset": "image_folder", "image_size": 20},
    "seq2seq": {"dataset": "csv"},
    "language_model": {"dataset": "text"},
    "sft": {"dataset": "jsonl"},
    "dpo": {"dataset": "jsonl"},
    "reward_model": {"dataset": "jsonl"},
    "embeddings": {"dataset": "files"},
    "own": {},
}
# samples, and whether they are uneven: a class with one of them, texts of one length ...
KINDS = [(rows, uneven) for rows in (12, 60, 180) for uneven in (False, True)]


def make_project(folder: Path, task: str, rows: int, uneven: bool) -> Path:
    # torch warns if there are more workers than cores
    write_project(folder, task, **ANSWERS[task], **{"training.num_workers": 0})
    write_data(folder, task, rows, uneven)
    return folder


def write_data(folder: Path, task: str, rows: int, uneven: bool) -> None:
    draw = Random(0)
    kinds = ["one" if row == 0 or (not uneven and row % 2) else "other" for row in range(rows)]
    # longer than `max_length`, or of several lengths
    texts = [
        " ".join(draw.choices("abcdefgh", k=99 if uneven else 1 + row % 20)) for row in range(rows)
    ]
    sizes = [draw.uniform(1, 9) for _ in range(rows)]
    answers = ["same" if uneven else text.upper() for text in texts]
    if task == "own":
        replace_in(folder / "data.py", "torch.rand(2000, 4", f"torch.rand({rows}, 4")
        layers = "nn.Linear(4, 32), nn.BatchNorm1d(32), nn.Tanh()"
        replace_in(folder / "model.py", "nn.Linear(4, 32), nn.Tanh()", layers)
    elif task == "image_classification":
        from support.kinds import picture

        for number, kind in enumerate(kinds):
            (folder / "images" / kind).mkdir(parents=True, exist_ok=True)
            (folder / "images" / kind / f"{number}.png").write_bytes(picture(number))
    elif task == "audio_classification":
        for row, kind in enumerate(kinds):
            path, samples = folder / "sounds" / kind / f"{row}.wav", 400 if uneven else 9 * row + 1
            write_sound(path, samples, hertz=300 + 50 * row)
    elif task in ("gan", "autoencoder"):
        write_mixed_images(folder / "images", rows, uneven, draw)
    elif task == "language_model":
        write_files(folder / "texts", {f"{row}.txt": text for row, text in enumerate(texts)})
    elif task == "seq2seq":
        pairs = zip(texts, answers, strict=True)
        write_rows(folder / "pairs.csv", [("source", "target"), *pairs])
    elif task in ("sft", "dpo", "reward_model"):
        name, key, more = "pairs", "chosen", {"rejected": "no"}
        if task == "sft":
            name, key, more = "chats", "completion", {}
        prompts = [text[:99] for text in texts]  # within the context
        pairs = zip(prompts, answers, strict=True)
        lines = [json.dumps({"prompt": prompt, key: answer, **more}) for prompt, answer in pairs]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    elif task == "embeddings":
        # if all were the same, nothing would be left to tell apart
        others = ["same" if uneven and row % 2 else text.upper() for row, text in enumerate(texts)]
        write_rows(folder / "pairs.csv", [("anchor", "positive"), *zip(texts, others, strict=True)])
    elif task == "text_classification":
        pairs = zip(texts, kinds, strict=True)
        write_rows(folder / "texts.csv", [("text", "label"), *pairs])
    else:
        constant = [7 if uneven else row for row in range(rows)]
        targets = kinds if task == "tabular_classification" else sizes
        columns = zip(sizes, constant, texts[:2] * (rows // 2), targets, strict=True)
        write_rows(folder / "table.csv", [("size", "constant", "text", "target"), *columns])


def write_mixed_images(folder: Path, number: int, uneven: bool, draw: Random) -> None:
    """Without classes, of several sizes and kinds, or all grey with a black one."""
    from PIL import Image

    folder.mkdir()
    for index in range(number):
        size = (10 + index % 7, 8 + index % 5)
        kind = "L" if uneven else ["L", "RGB", "RGBA", "P", "LA"][index % 5]
        pixels = bytes(3 * 256) if uneven and not index else draw.randbytes(3 * 256)
        image = Image.frombytes("RGB", (16, 16), pixels).resize(size)
        image.convert(kind).save(folder / f"{index}.png")


def assert_trains(project: Path) -> None:
    """At once, or with what its one line says."""
    command = ["train.py", "--epochs", "1"]
    result = start(project, command)
    if result.returncode:
        assert "Traceback" not in result.stderr, result.stderr
        assert len(result.stderr.splitlines()) == 1 and "--batch-size" in result.stderr
        result = start(project, [*command, "--batch-size", "2"])
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("task", ["tabular_classification", "text_classification"])
def test_it_trains_on_12_samples(task: str, tmp_path: Path) -> None:
    assert_trains(make_project(tmp_path, task, 12, uneven=True))


def test_the_tests_of_a_project_bring_enough_data(tmp_path: Path) -> None:
    project = make_project(tmp_path, "tabular_classification", 12, uneven=True)
    assert count_passed(run_tests(project, "-k", "loss_falls or batch_size or order")) >= 3


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["timm", "torchvision"])
def test_a_large_model_is_small_in_the_tests(model: str, tmp_path: Path) -> None:
    """The weights that a test compares are those of the model that it trains."""
    answers = {"image_classification.model": model, "hardware.dynamo_backend": "inductor"}
    features = {"unfreezing": True, "layer_rates": True, "checkpoints": False}
    answers |= {f"features.{name}.enabled": on for name, on in features.items()}
    project = write_files(tmp_path, render(answers))
    chosen = "compiled or frozen_layers_stay or more_slowly"
    assert count_passed(run_tests(project, "-k", chosen)) == 3


@pytest.mark.sweep
@pytest.mark.parametrize(("rows", "uneven"), KINDS)
@pytest.mark.parametrize("task", ANSWERS)
def test_small_data(task: str, rows: int, uneven: bool, tmp_path: Path) -> None:
    project = make_project(tmp_path, task, rows, uneven)
    assert_trains(project)
    result = run_tests(project)
    assert result.returncode == 0, result.stdout


def choose(*choices: str, label: int = 0, text: str = "a") -> dict[str, object]:
    return {"context": text, "choices": [*choices], "label": label}


def tag(words: list[str], tags: list[str]) -> dict[str, object]:
    return {"tokens": words, "tags": tags}


FEW, ONE = tag(["it", "rains"], ["O", "O"]), tag(["Bo"], ["B-PER"])
TAGGED = [tag(["Oslo", "Bo"], ["B-LOC", "B-PER"]), tag([], [])]
# by task: the choice of data, validation data, what predict.py is given, and odd training data by
# what training says of them
ODD: dict[str, tuple[str, list[object], list[str], dict[str, tuple[str, list[object]]]]] = {
    "masked_language_model": (
        "text",
        [{"text": "a b"}],
        ["[MASK]", "é[MASK]", "--top", "1"],
        {
            "one letter each": ("", [{"text": "a"}] * 30),
            "one long, others empty": ("", [{"text": text} for text in ("", "word " * 200, " ")]),
        },
    ),
    "multiple_choice": (
        "file",
        [choose(*"bcd", label=2)] * 2,
        ["val.jsonl"],
        {
            "two, and ten": ("", [*[choose("b", "c")] * 10, *[choose(*"bcdefghijk", label=9)] * 3]),
            "one long": (
                "fill --max-length",
                [*[choose("b", "c")] * 11, choose("x " * 300, "c", text="word " * 300)],
            ),
        },
    ),
    "token_classification": (
        "conll",
        TAGGED,
        ["Bo", ""],
        {
            "few entities": ("", [*[FEW] * 11, ONE]),
            "one word each, one long": (  # less 127 beside the first token
                "173 words of the",
                [*[ONE] * 11, tag(["Bo"] * 300, ["B-PER"] * 300)],
            ),
        },
    ),
}


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.sweep)])
@pytest.mark.parametrize(
    "case", in_turns([(task, name) for task in ODD for name in ODD[task][3]], 2), ids=", ".join
)
def test_odd_texts_train(case: tuple[str, str], processes: int, tmp_path: Path) -> None:
    """Then predict.py writes a row for each input, without the data."""
    task, name = case
    dataset, held_out, inputs, every = ODD[task]
    said, rows = every[name]
    rows = [*rows, *([TAGGED[0]] if held_out == TAGGED else [])]  # with all types
    paths = {"path": "data.jsonl", "val_path": "val.jsonl", "test_path": "val.jsonl"}
    project = write_project(tmp_path, task, dataset=dataset, **paths)
    for path, content in (("data.jsonl", rows), ("val.jsonl", held_out)):
        (project / path).write_text("\n".join(map(json.dumps, content)))
    flags = ["--epochs", "2", "--batch-size", "2"]
    trained = run(project, "train.py", *flags, processes=processes)
    assert "nan" not in trained and said in trained
    (project / "data.jsonl").unlink()
    assert len(run(project, "predict.py", *inputs, "--json", processes=processes).splitlines()) == 2


@pytest.mark.parametrize(
    ("task", "read", "group"),
    [
        ("dpo", "data.build_datasets", "part.dataset.prompts[part.indices[row]]"),
        ("reward_model", "data.build_datasets", "part.dataset.prompts[part.indices[row]]"),
        ("embeddings", "data.load_rows", "part[row][0]"),
    ],
)
def test_samples_of_one_prompt_or_anchor_are_in_one_part(
    task: str, read: str, group: str, tmp_path: Path
) -> None:
    """Otherwise the test data would have prompts of the training data."""
    dataset = "files" if task == "embeddings" else "jsonl"
    project = write_project(tmp_path, task, dataset=dataset, path="data.jsonl")
    rows = [
        {"anchor": f"up {n}", "positive": f"{n} {k}", "prompt": f"up {n}", "chosen": f"{n} {k}"}
        for n in range(20)
        for k in range(5)
    ]
    lines = [json.dumps(row | {"rejected": "no"}) for row in rows]
    (project / "data.jsonl").write_text("\n".join(lines))
    code = f"parts = {read}(config)\n"
    code += f"groups = [{{{group} for row in range(len(part))}} for part in parts]"
    counts = "[list(map(len, parts)), len(set().union(*groups)), sum(map(len, groups))]"
    assert ask(project, code, counts) == [[80, 10, 10], 20, 20]
    (project / "data.jsonl").write_text("\n".join(lines[:45]))
    [refused] = said(project, "train.py", [])
    assert "9 " in refused and "10" in refused
