"""Choices: files of every form, padding that changes nothing, exact accuracy, pretrained models."""

import csv
import json
from functools import partial
from pathlib import Path

import pytest

from support.bad_files import refuse_files
from support.combinations import in_turns
from support.files import write_files
from support.rendering import render, write_project
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
    "text.jsonl": (f"{json.dumps(PLAIN)}\nBo", "text.jsonl, line 2 is not JSON: "),
    "key.jsonl": ("\n" + without("choices"), "key.jsonl, line 2: there are no 'choices' and no"),
    "context.jsonl": (without("context"), "line 1: its context (or sent1) is not text, but None"),
    "one.jsonl": (
        without("", choices=["b"]),
        "line 1: it needs two choices or more, and has ['b']",
    ),
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
    "more.csv": (HEAD + "a,b,c,d,e,0,f\n", "more.csv, line 2 has more or fewer columns"),
    "hole.csv": (HEAD + "a,b,,d,e,0\n", "hole.csv, line 2: choice 0 is not text, but ''"),
    "high.csv": (HEAD + "a,b,c,d,,2\n", "high.csv, line 2: its label is '2', not one of 0 to 1"),
    "bytes.csv": (b"\xff\xfe", "bytes.csv is not text in UTF-8: save it as CSV in UTF-8."),
    "absent.csv": (None, "absent.csv can't be read"),
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
import json, sys, torch, train
from accelerate import Accelerator
from data import Sample, collate
from sklearn.metrics import accuracy_score, log_loss
from torch import nn
from torch.utils.data import DataLoader

class Known(nn.Module):
    # of a choice's tokens alone, so it does not depend on the batch
    def forward(self, tokens, mask, types):
        known = ((tokens * 31) % 7).float() * mask
        return torch.where(mask.any(dim=2), known.sum(dim=2) % 5, 99.0)

accelerator, draw = Accelerator(), torch.Generator().manual_seed(0)
for size, batch_size in json.loads(sys.argv[1]):
    samples, chances, guesses = [], [], []
    for _ in range(size):
        count = int(torch.randint(2, 6, (), generator=draw))
        lengths = torch.randint(2, 9, (count,), generator=draw).tolist()
        choices = [(torch.randint(0, 99, (length,), generator=draw), 1) for length in lengths]
        samples.append(Sample(choices, int(torch.randint(count, (), generator=draw))))
        scores = torch.tensor([float(((tokens * 31) % 7).sum() % 5) for tokens, _ in choices])
        guesses.append(int(scores.argmax()))
        chances.append(torch.cat([scores.double().softmax(0), torch.zeros(5 - count)]).tolist())
    loader = accelerator.prepare(DataLoader(samples, batch_size, collate_fn=collate))
    found = train.evaluate(accelerator, Known(), loader, "val")
    labels = [sample.label for sample in samples]
    assert abs(found["val_accuracy"] - accuracy_score(labels, guesses)) < 1e-6, (size, batch_size)
    expected = log_loss(labels, chances, labels=range(5))
    assert abs(found["val_loss"] - expected) < 1e-5, (size, batch_size, found, expected)
if accelerator.is_main_process:
    print("processes", accelerator.num_processes)
"""
SIZES = [(size, batch) for size in (1, 2, 3, 5, 12, 33, 200) for batch in (1, 3, 8, 64)]


@pytest.mark.parametrize(
    "processes", [2, *(pytest.param(count, marks=pytest.mark.sweep) for count in (1, 3))]
)
def test_accuracy_is_that_of_sklearn(processes: int, tmp_path: Path, proven) -> None:
    """On the whole set, with 2 to 5 choices, for each number of samples and batch size."""
    folder = project(tmp_path)
    (folder / "count.py").write_text(COUNT)
    sizes = SIZES[1::5] if processes == 2 else SIZES
    result = succeed(start(folder, ["count.py", json.dumps(sizes)], processes))
    assert f"processes {processes}" in result.stdout
    proven("sets whose accuracy and loss of choices are those of sklearn", len(sizes))


# --- pretrained models --------------------------------------------------------------------------

MAKE = """
from pathlib import Path
from transformers import BertConfig, BertModel, BertTokenizer, DistilBertConfig, DistilBertModel
from transformers import RobertaConfig, RobertaForMultipleChoice, RobertaTokenizer
import torch

questions = [question for part in data.load_questions(config) for question in part]
texts = [text for question in questions for text in (question.context, *question.choices)]
small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
small |= {"num_attention_heads": 2, "max_position_embeddings": 66}
small["initializer_range"] = 0.3  # scores that differ: otherwise gradients are rounding
one_type = {**small, "type_vocab_size": 1}  # as the published ones have
distil = {"dim": 32, "hidden_dim": 64, "n_layers": 1, "n_heads": 2, "max_position_embeddings": 66}
for name, kind, settings, head, more in (
    ("bert", BertTokenizer, BertConfig, BertModel, small),
    ("roberta", RobertaTokenizer, RobertaConfig, RobertaForMultipleChoice, one_type),
    ("distilbert", BertTokenizer, DistilBertConfig, DistilBertModel, distil),
):
    tokenizer = kind().train_new_from_iterator(texts, 300, show_progress=False)
    tokenizer.save_pretrained(name)
    given = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, **more}
    network = head(settings(**given))
    (network.to(torch.bfloat16) if name == "bert" else network).save_pretrained(name)
"""
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
dtype = str(network.model.dtype)
# two long texts at once: the tokenizer alone would take the product of their lengths in memory
long = data.Question("word " * 20_000, ("x " * 20_000, "\\u200b"))
lengths = [len(tokens) for tokens, _ in data.encode_questions([long], config)[0].choices]
"""


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["roberta", "bert", "distilbert"])
def test_a_pretrained_model_is_fine_tuned(name: str, tmp_path: Path) -> None:
    """Its scores are those of transformers for each choice alone, without padding."""
    more = {"model": "pretrained", "pretrained_name": str(tmp_path / name), "max_length": 64}
    folder = project(tmp_path, **more)
    succeed(call(folder, MAKE))
    worst, starts, dtype, lengths = ask(folder, SCORES, "[worst, starts, dtype, lengths]")
    assert lengths == [64, 64]
    assert worst < 1e-5 and dtype == "torch.float32"
    assert starts[1].lower().replace(" ", "").startswith("itrainshere.")
    short = ["--epochs", "1", "--limit-batches", "4", "--batch-size", "4"]
    succeed(start(folder, ["train.py", *short], processes=2))
    found = start(folder, ["predict.py", "Ann sings.", "Bo naps.", "It rains."], 1)
    assert found.returncode == 0 and len(found.stdout.splitlines()) == 2, found.stderr
    wrong = [["--max-length", "200"], ["--pretrained-name", "nobody/nothing"]]
    messages = said(folder, "train.py", *wrong)
    limit = 64 if name == "roberta" else 66
    assert f"takes at most {limit} tokens: lower --max-length." in messages[0] or name == "roberta"
    assert "'nobody/nothing' can't be loaded" in messages[1]


TRAINER = """
import torch
import transformers
from torch.utils.data import DataLoader

seen, collate = [], data.collate
names = ("input_ids", "attention_mask", "token_type_ids", "labels")

def note(samples):
    batch = collate([data.Sample(sample.choices[:2], sample.label % 2) for sample in samples])
    seen.append(dict(zip(names, batch, strict=True)) | {"attention_mask": batch[1].long()})
    return batch

torch.manual_seed(0)
build = model.build_model
begin = build(config)
torch.save(begin.model.state_dict(), "begin.pt")
train.build_model, data.collate = lambda config: begin, note
train.main(train.Config(max_steps=10, epochs=1, log_every=1, batch_size=8, learning_rate=1e-3))
lines = [json.loads(line) for line in open(next(pathlib.Path("runs").glob("*/metrics.jsonl")))]
ours = [line["loss"] for line in lines if "loss" in line]

other = build(config).model
other.load_state_dict(torch.load("begin.pt"))
theirs = []

class Trainer(transformers.Trainer):
    def get_train_dataloader(self):
        return DataLoader(seen[:10], batch_size=None)

    def training_step(self, *given, **named):
        theirs.append(float(loss := super().training_step(*given, **named)))
        return loss

arguments = transformers.TrainingArguments(
    "other", max_steps=10, learning_rate=1e-3, lr_scheduler_type="constant",
    weight_decay=0.0, max_grad_norm=1.0, report_to=[], save_strategy="no", use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(other, arguments)
trainer.train()
ends = [network.state_dict() for network in (begin.model, other)]
# these shift all scores of a softmax alike: their gradients are rounding
names = [n for n in ends[0] if not n.endswith("key.bias") and n != "classifier.bias"]
worst = max(float((ends[0][name] - ends[1][name]).abs().max()) for name in names)
"""


@pytest.mark.sweep
def test_ten_steps_are_those_of_the_trainer_of_transformers(tmp_path: Path, proven) -> None:
    """With two choices for each sample, as it needs, from the same weights, without dropout."""
    more = {"model": "pretrained", "pretrained_name": str(tmp_path / "bert"), "max_length": 64}
    settings = {f"multiple_choice.{key}": value for key, value in more.items()}
    answers = {"project.task": "multiple_choice", "features.schedule.enabled": False}
    answers |= {"training.optimizer": "adamw", "training.weight_decay": 0.0}
    folder = write_files(tmp_path, render({**answers, **settings}))
    assert call(folder, MAKE).returncode == 0
    path = folder / "bert/config.json"
    kept = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    path.write_text(json.dumps(json.loads(path.read_text()) | kept))
    ours, theirs, worst = ask(folder, TRAINER, "[ours, theirs, worst]")
    assert len(ours) == len(theirs) == 10
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert worst < 1e-5
    proven("steps that are those of the Trainer of Transformers", 10)
