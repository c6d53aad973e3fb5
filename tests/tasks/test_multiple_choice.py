"""Choices: files of every form, padding that changes nothing, exact accuracy, pretrained models."""

import csv
import json
from functools import partial
from pathlib import Path

import pytest

from support.bad_files import refuse_files
from support.combinations import in_turns
from support.encoders import (
    ENCODERS,
    assert_is_tuned,
    assert_ten_steps,
    make_encoders,
    pretrained,
    project_of_steps,
)
from support.rendering import write_project
from support.scores import ON_PROCESSES, score_sets
from support.training import ask, call, count_processes, said, start, succeed

pytestmark = pytest.mark.train

project = partial(write_project, task="multiple_choice")


# --- files --------------------------------------------------------------------------------------

QUESTIONS = [
    ("Ann sings.", ["She eats", "She runs, too"], 1),
    ("Bo naps.\nFor long.", ["She wakes", "She naïvely waits", "She sings"], 0),
]
HEAD = "sent1,sent2,ending0,ending1,ending2,label\n"
PLAIN = {"context": "a", "choices": ["b", "c"], "label": 0}


def write_objects(path: Path, questions) -> None:
    keys = ("context", "choices", "label")
    rows = (json.dumps(dict(zip(keys, question, strict=True))) for question in questions)
    path.write_text("\n".join(rows), encoding="utf-8")


def without(key: str, **more: object) -> str:
    return json.dumps({k: v for k, v in {**PLAIN, **more}.items() if k != key})


BAD = {
    "one.jsonl": (without("", choices=["b"]), "line 1: it needs two choices or more, and has ['b'"),
    "list.jsonl": (without("", choices="bc"), "line 1: it needs two choices or more, and has 'bc'"),
    "number.jsonl": (without("", choices=["b", 1]), "line 1: choice 1 is not text, but 1"),
    "empty.jsonl": (without("", choices=["b", " "]), "line 1: choice 1 is not text, but ' '"),
    "label.jsonl": (without("", label=2), "line 1: its label is 2, not one of 0 to 1"),
    "name.jsonl": (without("", label="b"), "line 1: its label is 'b', not one of 0 to 1"),
    "bool.jsonl": (without("", label=True), "line 1: its label is True, not one of 0 to 1"),
    "none.jsonl": (without("label"), "line 1: it has no label, the index of the right choice"),
    "few.jsonl": (json.dumps(PLAIN), "1 rows can't be split"),
    "rows.csv": (HEAD, "rows.csv has no rows"),
    "cells.csv": (HEAD + 'a,"b\nb",c,d,e,0\na,b\n', "cells.csv, line 4 has more or fewer columns"),
    "hole.csv": (HEAD + "a,b,,d,e,0\n", "hole.csv, line 2: choice 0 is not text, but ''"),
    "high.csv": (HEAD + "a,b,c,d,,2\n", "high.csv, line 2: its label is '2', not one of 0 to 1"),
}


def test_files_of_both_forms_are_read_alike(tmp_path: Path, proven) -> None:
    """With 2 or 3 choices. What can't be read ends training before it starts."""
    folder = project(tmp_path, dataset="file", path="rows.jsonl")
    questions = 6 * QUESTIONS
    write_objects(tmp_path / "rows.jsonl", questions)
    write_objects(tmp_path / "val.jsonl", QUESTIONS)
    with (tmp_path / "swag.csv").open("w", encoding="utf-8-sig", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(HEAD.strip().split(","))
        for context, choices, label in questions:
            endings = [choice.removeprefix("She ") for choice in choices]
            rows.writerow([context, "She", *endings, *[""] * (3 - len(choices)), label])
    code = (
        "read = lambda path: [[q.context, q.choices, q.label]"
        " for q in data.read_questions(path, train.Config())]\n"
    )
    code += "parts = data.load_questions(train.Config(val_path='val.jsonl'))"
    plain, swag, sizes = ask(
        folder, code, "[read('rows.jsonl'), read('swag.csv'), list(map(len, parts))]"
    )
    assert plain == swag == [list(question) for question in questions] and sizes == [11, 2, 1]
    for name, message in refuse_files(folder, BAD, "data.load_questions"):
        assert name in message or name == "few.jsonl"
    [message] = said(folder, "train.py", ["--path", "label.jsonl"])
    assert BAD["label.jsonl"][1] in message
    assert not list(folder.glob("runs/*/*.safetensors"))
    proven("files of choices that can't be read, named by file and line", len(BAD))


SMALL = {
    "two choices, and ten": [*[("a", ["b", "c"], 0)] * 10, *[("a", list("bcdefghijk"), 9)] * 3],
    "one choice is always right": [("a", ["b", "b"], 1)] * 12,
    "one long": [*[("a", ["b", "c"], 0)] * 11, ("word " * 300, ["x " * 300, "c"], 1)],
}


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", in_turns(SMALL, 3))
def test_small_files_train(name: str, processes: int, tmp_path: Path) -> None:
    write_objects(tmp_path / "data.jsonl", SMALL[name])
    write_objects(tmp_path / "val.jsonl", [("a", list("bcd"), 2)])
    folder = project(tmp_path, dataset="file", path="data.jsonl", val_path="val.jsonl")
    result = succeed(start(folder, ["train.py", "--epochs", "2", "--batch-size", "2"], processes))
    assert count_processes(result.stdout) == processes and "nan" not in result.stdout
    assert ("fill --max-length" in result.stdout) == ("long" in name)
    (tmp_path / "data.jsonl").unlink()
    found = succeed(start(folder, ["predict.py", "val.jsonl", "--json"], processes))
    [row] = [json.loads(row) for row in found.stdout.splitlines()]
    assert row["context"] == "a" and len(row["probabilities"]) == 3


HUB = """
from datasets import ClassLabel, Dataset, Features, Value
names = ["sent1", "sent2", "ending0", "ending1"]
features = Features({name: Value("string") for name in names})
features["label"] = ClassLabel(names=["0", "1"])
for part, rows, label in (("train", 40, 1), ("validation", 5, 0), ("test", 6, -1)):
    columns = {name: [f"{name} of {part}"] * rows for name in names} | {"label": [label] * rows}
    Dataset.from_dict(columns, features=features).to_parquet(f"own/{part}.parquet")
"""


@pytest.mark.sweep
def test_a_dataset_of_the_hub_is_read(tmp_path: Path) -> None:
    """From a folder, in the columns of SWAG, whose test has no labels: a tenth replaces it."""
    given = {"dataset_name": str(tmp_path / "own"), "dataset_subset": ""}
    folder = project(tmp_path, dataset="huggingface", **given)
    (tmp_path / "own").mkdir()
    assert call(folder, HUB).returncode == 0
    parts = "data.load_questions(config)"
    sizes, first = ask(folder, "", f"[list(map(len, {parts})), {parts}[1][0].choices]")
    assert sizes == [36, 5, 4]
    assert first == [f"sent2 of validation ending{n} of validation" for n in (0, 1)]
    succeed(start(folder, ["train.py", "--epochs", "1", "--batch-size", "8"], processes=2))
    [message] = said(folder, "train.py", ["--dataset-name", "nobody/nothing"])
    assert "'nobody/nothing' can't be loaded" in message


ALONE = """
from collections import Counter
training, _, tested = data.load_questions(config)
rights = Counter(q.choices[q.label].split(maxsplit=1)[1] for q in training)
shown = Counter(choice.split(maxsplit=1)[1] for q in training for choice in q.choices)
def best(q):
    shares = [rights[c.split(maxsplit=1)[1]] / shown[c.split(maxsplit=1)[1]] for c in q.choices]
    return shares.index(max(shares)) == q.label
share = sum(map(best, tested)) / len(tested)
"""


@pytest.mark.sweep
def test_choices_alone_do_not_solve_the_generated_data(tmp_path: Path) -> None:
    """Without the text, by how often each one is right: little more than chance, which is 0.36."""
    assert ask(project(tmp_path), ALONE, "share") < 0.5


# --- metrics ------------------------------------------------------------------------------------

COUNT = """
from data import Sample, collate
from sklearn.metrics import accuracy_score, log_loss

class Known(nn.Module):
    # of a choice's tokens alone, so it does not depend on the batch
    def forward(self, tokens, mask, types):
        known = ((tokens * 31) % 7).float() * mask
        return torch.where(mask.any(dim=2), known.sum(dim=2) % 5, 99.0)

for size, batch_size in cases:
    samples, chances, guesses = [], [], []
    for _ in range(size):
        several = int(torch.randint(2, 6, (), generator=draw))
        lengths = torch.randint(2, 9, (several,), generator=draw).tolist()
        choices = [(torch.randint(0, 99, (length,), generator=draw), 1) for length in lengths]
        samples.append(Sample(choices, int(torch.randint(several, (), generator=draw))))
        scores = torch.tensor([float(((tokens * 31) % 7).sum() % 5) for tokens, _ in choices])
        guesses.append(int(scores.argmax()))
        chances.append(torch.cat([scores.double().softmax(0), torch.zeros(5 - several)]).tolist())
    loader = accelerator.prepare(DataLoader(samples, batch_size, collate_fn=collate))
    found = train.evaluate(accelerator, Known(), loader, "val")
    labels = [sample.label for sample in samples]
    assert abs(found["val_accuracy"] - accuracy_score(labels, guesses)) < 1e-6, (size, batch_size)
    expected = log_loss(labels, chances, labels=range(5))
    assert abs(found["val_loss"] - expected) < 1e-5, (size, batch_size, found, expected)
"""


@pytest.mark.parametrize("processes", ON_PROCESSES)
def test_accuracy_is_that_of_sklearn(processes: int, tmp_path: Path, proven) -> None:
    """On the whole set, with 2 to 5 choices, for each number of samples and batch size."""
    count = score_sets(project(tmp_path), COUNT, processes)
    proven("sets whose accuracy and loss of choices are those of sklearn", count)


# --- pretrained models --------------------------------------------------------------------------

QUESTIONS_OF_ALL = "(question for part in data.load_questions(config) for question in part)"
TEXTS = f"[text for q in {QUESTIONS_OF_ALL} for text in (q.context, *q.choices)]"
FAR = {"initializer_range": 0.3}  # scores that differ: otherwise gradients are rounding
SCORES = """
import torch
network = model.build_model(config).eval()
questions = [data.Question("Ann sings.", ("Bo naps.", "It rains here.")),
             data.Question("word " * 50, ("a", "b c", "d", "x " * 90))]
samples = data.encode_questions(questions, config)
tokenizer = data.build_tokenizer(config)
with torch.no_grad():
    together = network(*data.collate(samples)[:3])
    both = [network(*data.collate([sample])[:3])[0] for sample in samples]
    pairs = [(q.context, choice) for q in questions for choice in q.choices]
    cut = {"truncation": True, "max_length": config.max_length, "return_tensors": "pt"}
    theirs = [network.model(**{k: v[None] for k, v in tokenizer(*pair, **cut).items()}).logits
              for pair in pairs]
ours = torch.cat([together[0, :2], together[1]])
worst = float((ours - torch.cat(both)).abs().max())
worst = max(worst, float((ours - torch.cat(theirs).flatten()).abs().max()))
starts = [tokenizer.decode(tokens[first:]) for tokens, first in samples[0].choices]
# two long texts at once: the tokenizer alone would take the product of their lengths in memory
long = data.Question("word " * 20_000, ("x " * 20_000, "\\u200b"))
lengths = [len(tokens) for tokens, _ in data.encode_questions([long], config)[0].choices]
"""


@pytest.mark.sweep
@pytest.mark.parametrize("name", ENCODERS)
def test_a_pretrained_model_is_fine_tuned(name: str, tmp_path: Path) -> None:
    """Its scores are those of transformers for each choice alone, without padding."""
    folder = project(tmp_path, **pretrained(name))
    make_encoders(folder, TEXTS, FAR, roberta="AutoModelForMultipleChoice")
    worst, starts, lengths = ask(folder, SCORES, "[worst, starts, lengths]")
    assert lengths == [64, 64] and worst < 1e-5
    assert starts[1].lower().replace(" ", "").startswith("itrainshere.")
    assert_is_tuned(folder, inputs=0)
    found = succeed(start(folder, ["predict.py", "Ann sings.", "Bo naps.", "It rains."], 1))
    assert len(found.stdout.splitlines()) == 2


NOTE = """
collate = data.collate
names = ("input_ids", "attention_mask", "token_type_ids", "labels")

def note(samples):
    batch = collate([data.Sample(sample.choices[:2], sample.label % 2) for sample in samples])
    seen.append(dict(zip(names, batch, strict=True)) | {"attention_mask": batch[1].long()})
    return batch
"""


@pytest.mark.sweep
def test_ten_steps_are_those_of_the_trainer_of_transformers(tmp_path: Path, proven) -> None:
    """With two choices for each sample, as it needs, from the same weights, without dropout."""
    folder = project_of_steps(tmp_path, "multiple_choice")
    make_encoders(folder, TEXTS, FAR)
    assert_ten_steps(folder, NOTE, shifts=["key.bias", "classifier.bias"])
    proven("steps that are those of the Trainer of Transformers", 10)
