"""Entities: files of every form, exact F1 on several processes, and pretrained models."""

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
from support.scores import ON_PROCESSES, SETS, score_sets
from support.training import ask, call, count_processes, said, start, succeed

pytestmark = pytest.mark.train

project = partial(write_project, task="token_classification")


# --- files --------------------------------------------------------------------------------------

SENTENCES = [
    (["Bo", "Li", "met", "Ann"], ["B-PER", "I-PER", "O", "B-PER"]),
    (["Ann", "Bo", "in", "New York"], ["B-PER", "B-PER", "O", "B-LOC"]),  # one beside the other
    (["#", "1", "!"], ["O", "O", "O"]),
    (["naïve", "Zoë", "10\u00a0000"], ["O", "B-PER", "O"]),
]
IOB1 = """-DOCSTART-\t-X-\tO

# a comment
Bo\tNN\tI-PER
Li\tNN\tI-PER
met\tNN\tO
Ann\tNN\tI-PER


Ann\tNN\tI-PER
Bo\tNN\tB-PER
in\tNN\tO
New York\tNN\tI-LOC
\t
#\tNN\tO
1\tNN\tO
!\tNN\tO

naïve\tNN\tO
Zoë\tNN\tI-PER
10\u00a0000\tNN\tO"""


def write_objects(path: Path, sentences, words: str = "tokens", tags: str = "tags") -> None:
    rows = ({words: one, tags: other} for one, other in sentences)
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")


BAD = {
    "one.conll": ("Bo O\nLi\n", "line 2: 'Li' has 1 column(s), not 2 columns, as before"),
    "alone.conll": ("Bo\n", "line 1: 'Bo' has 1 column(s), not a word, a tab and its tag"),
    "more.conll": ("Bo O\n\nNew York B-LOC\n", "line 3: 'New York B-LOC' has 3 column(s), not 2"),
    "tag.conll": ("Bo O\nLi X-PER\n" + "\na O\n" * 12, "line 2: the tag 'X-PER' is not an IOB2"),
    "empty.conll": ("\n\n", "empty.conll has no sentences"),
    "few.conll": ("Bo O\n", "1 sentences can't be split"),
    "absent.conll": (None, "absent.conll can't be read"),
    "bytes.conll": (b"\xff\xfe", "bytes.conll can't be read"),
    "list.jsonl": ('{"tokens": "a", "tags": ["O"]}', "line 1: its words are not a list of texts"),
    "short.jsonl": ('\n{"tokens": ["a", "b"], "tags": ["O"]}', "line 2: it has 2 words and 1 tags"),
}


def test_files_of_both_forms_are_read_alike(tmp_path: Path, proven) -> None:
    """In IOB2 whatever they are written in. What can't be read ends training before it starts."""
    folder = project(tmp_path, dataset="conll", path="data.conll")
    sentences = 3 * SENTENCES
    (tmp_path / "data.conll").write_text("\r\n\r\n".join([IOB1] * 3), encoding="utf-8-sig")
    write_objects(tmp_path / "data.jsonl", [*sentences, ([], [])])
    write_objects(tmp_path / "other.jsonl", [(["x"], ["B-NEW"])], "words", "labels")
    code = "read = lambda path, **more: data.read_sentences(path, train.Config(**more))\n"
    code += "parts = train.Config(path='data.jsonl', val_path='data.conll')\n"
    both = "[read(path) for path in ('data.conll', 'data.jsonl')]"
    more = "data.tag_names(parts), list(map(len, data.load_sentences(parts)))"
    other = "read('other.jsonl', words_column='words', tags_column='labels')"
    read, names, sizes, renamed = ask(folder, code, f"[{both}, {more}, {other}]")
    assert read[0] == read[1] == [list(map(list, sentence)) for sentence in sentences]
    assert names == ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
    assert sizes == [11, 12, 1] and renamed == [[["x"], ["B-NEW"]]]
    for name, message in refuse_files(folder, BAD, "data.load_sentences"):
        assert name in message
    (tmp_path / "outside.conll").write_text("a O\n\n" * 12)
    messages = said(
        folder, "train.py", *(["--path", name] for name in ("tag.conll", "outside.conll"))
    )
    assert BAD["tag.conll"][1] in messages[0]
    assert messages[1].startswith("outside.conll: all words have the tag O")
    assert not list(folder.glob("runs/*/*.safetensors"))
    (tmp_path / "new.conll").write_text("Bo B-NEW\n")
    settings = "train.Config(path='data.jsonl', val_path='new.conll')"
    found = call(folder, f"data.build_loaders({settings})")
    missing = "new.conll, sentence 1: the training data have no type 'NEW': write names as they do"
    assert missing in found.stderr
    proven("files of tagged words that can't be read, named by file and line", len(BAD))


HUB = """
from datasets import ClassLabel, Dataset, Features, Sequence, Value
tags = Sequence(ClassLabel(names=["O", "B-PER", "I-PER"]))
features = Features({"tokens": Sequence(Value("string")), "ner_tags": tags})
for part, rows in (("train", 40), ("validation", 5)):
    columns = {"tokens": [["Bo", "met", part]] * rows, "ner_tags": [[2, 0, 1]] * rows}
    Dataset.from_dict(columns, features=features).to_parquet(f"own/{part}.parquet")
"""


@pytest.mark.sweep
def test_a_dataset_of_the_hub_is_read(tmp_path: Path) -> None:
    """From a folder, as nothing is downloaded here. A part that it lacks is a tenth of the rest."""
    folder = project(tmp_path, dataset="huggingface", dataset_name=str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    assert call(folder, HUB).returncode == 0
    parts = "data.load_sentences(config)"
    sizes, first = ask(folder, "", f"[list(map(len, {parts})), {parts}[1][0]]")
    assert sizes == [36, 5, 4]
    assert first == [["Bo", "met", "validation"], ["B-PER", "O", "B-PER"]]
    short = ["--epochs", "1", "--batch-size", "8"]
    succeed(start(folder, ["train.py", *short], processes=2))
    wrong = [["--words-column", "text"], ["--dataset-name", "nobody/nothing"]]
    messages = said(folder, "train.py", *wrong)
    assert "has no column 'text', only tokens, ner_tags" in messages[0]
    assert "'nobody/nothing' can't be loaded" in messages[1]


SMALL = {
    "one length": [(["Bo", "sings", "."], ["B-PER", "O", "O"])] * 12,
    "few entities": [*[(["it", "rains"], ["O", "O"])] * 11, (["Bo"], ["B-PER"])],
    "one word each, one long": [*[(["Bo"], ["B-PER"])] * 11, (["Bo"] * 300, ["B-PER"] * 300)],
}


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", in_turns(SMALL, 3))
def test_small_files_train(name: str, processes: int, tmp_path: Path) -> None:
    """With a type of one sentence, and with sentences that are cut."""
    rows = [*SMALL[name], (["Oslo"], ["B-LOC"])]  # a type of the validation data alone is refused
    write_objects(tmp_path / "data.jsonl", rows)
    write_objects(tmp_path / "val.jsonl", [(["Oslo", "Bo"], ["B-LOC", "B-PER"]), ([], [])])
    folder = project(tmp_path, dataset="conll", path="data.jsonl", val_path="val.jsonl")
    script = ["train.py", "--epochs", "2", "--batch-size", "2"]
    result = succeed(start(folder, script, processes))
    assert count_processes(result.stdout) == processes
    tags = json.loads((folder / "runs/latest/tags.json").read_text())
    assert tags == ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
    assert ("beyond --max-length" in result.stdout) == ("long" in name)
    if "long" in name:
        assert "173 words of the" in result.stdout  # 300, less 127 beside the first token
    (tmp_path / "data.jsonl").unlink()  # the tags are those of the run
    found = succeed(start(folder, ["predict.py", "Bo", "", "--json"], processes))
    rows = [json.loads(row) for row in found.stdout.splitlines()]
    assert [row["text"] for row in rows] == ["Bo", ""]


LOOK_UP = """
from collections import Counter, defaultdict
from metrics import entity_scores, find_entities
import torch
training, _, tested = data.load_sentences(config)
seen, numbers = defaultdict(Counter), {name: n for n, name in enumerate(data.tag_names(config))}
for words, tags in training:
    for word, tag in zip(words, tags):
        seen[word][numbers[tag]] += 1
counts = torch.zeros(3)
for words, tags in tested:
    found = find_entities([max(seen[word], key=seen[word].get, default=0) for word in words])
    known = find_entities([numbers[tag] for tag in tags])
    counts += torch.tensor([len(found & known), len(found), len(known)])
"""


@pytest.mark.sweep
def test_a_list_of_names_does_not_solve_the_generated_data(tmp_path: Path) -> None:
    """The most frequent tag of each word, as in the training data: the type needs the context."""
    folder = project(tmp_path)
    assert ask(folder, LOOK_UP, "entity_scores(counts)['f1']") < 0.25


# --- metrics ------------------------------------------------------------------------------------

COUNT = """
from data import collate
from metrics import IGNORED
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

NAMES = ["O", "B-A", "I-A", "B-B", "I-B"]
TOKENS = 50

class Known(nn.Module):
    # the tag of a token is that of its number, so predictions do not depend on the batch
    def forward(self, tokens, mask):
        return nn.functional.one_hot(tokens % 5, 5).float() + mask.unsqueeze(2)

for size, batch_size in cases:
    samples = []
    for _ in range(size):
        length = int(torch.randint(1, 12, (), generator=draw))
        tokens = torch.randint(0, TOKENS, (length,), generator=draw)
        kept = torch.rand(length, generator=draw) < 0.4  # of the others, some are known
        targets = torch.randint(0, 5, (length,), generator=draw)
        targets = torch.where(kept, tokens % 5, targets)
        targets[torch.rand(length, generator=draw) < 0.3] = IGNORED  # not the first of a word
        targets[0] = 1
        samples.append((tokens, targets))
    loader = accelerator.prepare(DataLoader(samples, batch_size, collate_fn=collate))
    metrics = train.evaluate(accelerator, Known(), loader, "val")
    kept = [(tokens % 5, targets, targets != IGNORED) for tokens, targets in samples]
    predicted = [[NAMES[tag] for tag in tags[words]] for tags, _, words in kept]
    actual = [[NAMES[tag] for tag in tags[words]] for _, tags, words in kept]
    for score in (f1_score, precision_score, recall_score):
        expected = score(actual, predicted, mode="strict", scheme=IOB2, zero_division=0)
        found = metrics["val_" + score.__name__.removesuffix("_score")]
        assert abs(found - expected) < 1e-12, (size, batch_size, metrics, expected)
"""


@pytest.mark.parametrize("processes", ON_PROCESSES)
def test_f1_is_that_of_seqeval(processes: int, tmp_path: Path, proven) -> None:
    """In its strict mode, on the whole set, for each number of samples and batch size."""
    count = score_sets(project(tmp_path), COUNT, processes, SETS)
    proven("sets whose F1 of entities is that of seqeval", count)


# --- pretrained models --------------------------------------------------------------------------

TEXTS = "[' '.join(words) for part in data.load_sentences(config) for words, _ in part]"
TARGETS = """
import torch
from metrics import IGNORED
tokenizer = data.build_tokenizer(config)
words = [["Kelmond", "\\u200b", "Zanstead", "xyzzyx"], [], ["Norby"] * 100]
rows = []
for sentence, (tokens, starts) in zip(words, data.encode(words, config)):
    whole = [tokenizer.decode(tokens[a:b]) for a, b in zip(starts, [*starts[1:], len(tokens) - 1])]
    rows.append([len(tokens), whole])
"""


@pytest.mark.sweep
@pytest.mark.parametrize("name", ENCODERS)
def test_a_pretrained_model_is_fine_tuned(name: str, tmp_path: Path) -> None:
    """Its words have a target at their first token alone, and others' tags are replaced."""
    folder = project(tmp_path, **pretrained(name))
    make_encoders(folder, TEXTS, {"num_labels": 3}, roberta="AutoModelForTokenClassification")
    (_, first), (_, empty), (long, last) = ask(folder, TARGETS, "rows")
    assert len(first) == 4 and empty == [] and long == 64 and 10 < len(last) < 64
    if name == "roberta":  # which keeps capitals and spaces
        assert [first[0].strip(), first[2].strip()] == ["Kelmond", "Zanstead"]
    assert {word.strip().lower() for word in last[:-1]} == {"norby"}
    assert_is_tuned(folder)
    found = succeed(start(folder, ["predict.py", "Kelmond was born in Norby.", "--json"], 1))
    [row] = [json.loads(row) for row in found.stdout.splitlines()]
    for entity in row["entities"]:
        assert row["text"][entity["start"] : entity["end"]] == entity["entity"]


NOTE = """
collate = data.collate

def note(samples):
    batch = collate(samples)
    seen.append({"input_ids": batch[0], "attention_mask": batch[1].long(), "labels": batch[2]})
    return batch
"""


@pytest.mark.sweep
def test_ten_steps_are_those_of_the_trainer_of_transformers(tmp_path: Path, proven) -> None:
    """From the same weights, with the same batches and optimizer, without dropout."""
    folder = project_of_steps(tmp_path, "token_classification")
    make_encoders(folder, TEXTS)
    assert_ten_steps(folder, NOTE)
    proven("steps that are those of the Trainer of Transformers", 10)
