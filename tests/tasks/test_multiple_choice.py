"""Choices: made-up data, exact accuracy, pretrained models."""

from functools import partial
from pathlib import Path

import pytest

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
from support.training import ask, run

pytestmark = pytest.mark.train

project = partial(write_project, task="multiple_choice")


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
    assert len(run(folder, "predict.py", "Ann sings.", "Bo naps.", "It rains.").splitlines()) == 2


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
