"""Entities: made-up data, exact F1 on several processes, and pretrained models."""

from functools import partial
from pathlib import Path

import pytest

from support.bad_files import refuse_flags
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
from support.training import ask, read_rows, run

pytestmark = pytest.mark.train

project = partial(write_project, task="token_classification")


def test_tags_that_can_not_be_learned_are_named(tmp_path: Path) -> None:
    folder = project(tmp_path, dataset="conll", path="data.conll")
    (tmp_path / "data.conll").write_text("Bo B-PER\n\n" * 12)
    (tmp_path / "outside.conll").write_text("a O\n\n" * 12)
    (tmp_path / "new.conll").write_text("Bo B-NEW\n")
    expected = {
        ("--path", "outside.conll"): "outside.conll: all words have the tag O",
        ("--val-path", "new.conll"): "new.conll, sentence 1: the training data have no type 'NEW': "
        "write names as they do",
    }
    refuse_flags(folder, expected)


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
    [row] = read_rows(run(folder, "predict.py", "Kelmond was born in Norby.", "--json"))
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
