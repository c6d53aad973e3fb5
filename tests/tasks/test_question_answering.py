"""Answers in texts: windows, exact scores on several processes, and pretrained models."""

import json
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
from support.scores import ON_PROCESSES, SETS, score_sets
from support.training import ask, read_rows, run, said

pytestmark = pytest.mark.train

project = partial(write_project, task="question_answering")


LONG = "word " * 300


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.sweep)])
def test_long_texts_train_and_are_searched(processes: int, tmp_path: Path) -> None:
    """Answers that are longer than a window are counted. Files of questions are predicted."""
    rows = []
    for number in range(13):
        words = f"{number} {LONG}"
        text, place = ("Bo", len(words)) if number < 10 else (words, 0)
        answers = {"text": [text], "answer_start": [place]}
        rows.append({"context": f"{words}Bo sings.", "question": "Who sings?", "answers": answers})
    write_lines(tmp_path / "data.jsonl", rows)
    write_lines(tmp_path / "val.jsonl", rows[-1:])
    paths = {"path": "data.jsonl", "val_path": "val.jsonl", "test_path": "val.jsonl"}
    folder = project(tmp_path, dataset="squad", **paths)
    script = ["train.py", "--epochs", "1", "--batch-size", "4", "--limit-batches", "3"]
    result = run(folder, *script, processes=processes)
    for part, count in (("training", 3), ("validation", 1), ("test", 1)):
        line = f"{count} questions of the {part} data have answers that fit into no window"
        assert line in result
    none, half = said(folder, "train.py", ["--path", "val.jsonl"], ["--overlap", "65"])
    assert "No window contains an answer of the training data: raise --max-length." in none
    assert "--overlap 65 is more than half of --max-length" in half
    (tmp_path / "data.jsonl").unlink()  # predict.py does not need it
    found = run(folder, "predict.py", "val.jsonl", "val.jsonl", "--json", processes=processes)
    one, other = read_rows(found)
    assert one == pytest.approx(other)
    context = str(rows[-1]["context"])
    for row in (one, other):
        assert row["answer"] == (context[row["start"] : row["end"]] if row["answer"] else "")
        assert 0 < row["score"] < 1


def write_lines(path: Path, rows: list) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


# --- metrics ------------------------------------------------------------------------------------

SCORES = """
from data import Question, collate, make_windows
from torchmetrics.functional.text.squad import (
    _compute_exact_match_score, _compute_f1_score, _normalize_text
)

WORDS = "the a Bo, bo! Ann an sings in Oslo. (red) London Li's 3,5 THE".split()
config = train.Config(max_length=32, overlap=8, max_answer=4)

def pick(most, least=0):
    return int(torch.randint(least, most, (), generator=draw))

def write():
    words = [WORDS[pick(len(WORDS))] for _ in range(pick(60, 1))]
    answers = []
    for _ in range(pick(4)):
        first = pick(len(words))
        chosen = " ".join(words[first : first + pick(5, 1)])
        answers.append((len(" ".join(words[:first])) + (first > 0), chosen))
    return Question(" ".join(words), "Who?", tuple(answers))

class Known(nn.Module):
    # the logits depend on the token and its place in the window alone, not on the batch
    def forward(self, tokens, mask, types):
        places = torch.arange(tokens.shape[1])
        seeds = (tokens * 7919 + places * 104729).unsqueeze(2) + torch.tensor([0, 31])
        return torch.sin(seeds.double() * 0.37).float() * 4 + mask.unsqueeze(2)

def official(question, answer):
    # of SQuAD 2.0: references that have no words do not count, and no answer is an empty one
    known = [words for _, words in question.answers if _normalize_text(words)]
    if not known or not _normalize_text(answer):
        right = float(not known and not _normalize_text(answer))
        return [right, right]
    pairs = [(answer, words) for words in known]
    exact = max(float(_compute_exact_match_score(*pair)) for pair in pairs)
    return [exact, max(float(_compute_f1_score(*pair)) for pair in pairs)]

def search(question):
    # every place of every window, one after the other
    best, none, answer = -float("inf"), float("inf"), ""
    for window in make_windows([question], config):
        tokens, mask, types, _, _ = collate([window])
        logits = Known()(tokens, mask, types)[0].tolist()
        none = min(none, sum(logits[0]))
        for first in range(window.first, window.first + len(window.starts)):
            for last in range(first, min(first + 4, window.first + len(window.starts))):
                score = float(torch.tensor(logits[first][0]) + torch.tensor(logits[last][1]))
                if score > best:
                    start, end = window.starts[first - window.first], last - window.first
                    best, answer = score, question.context[start : window.ends[end]]
    return "" if none > best else answer

several = 0
for size, batch_size in cases:
    questions = [write() for _ in range(size)]
    windows = make_windows(questions, config)
    several += len(windows) - size
    loader = accelerator.prepare(DataLoader(windows, batch_size, collate_fn=collate))
    metrics = train.evaluate(accelerator, Known(), loader, "val")
    rows = torch.tensor([official(one, search(one)) for one in questions], dtype=torch.float64)
    exact, f1 = rows.mean(dim=0).tolist()
    assert abs(metrics["val_exact_match"] - exact) < 1e-12, (size, batch_size, metrics, exact)
    assert abs(metrics["val_f1"] - f1) < 1e-7, (size, batch_size, metrics, f1)  # theirs is float32
assert several > 3
"""


@pytest.mark.parametrize("processes", ON_PROCESSES)
def test_scores_are_those_of_squad(processes: int, tmp_path: Path, proven) -> None:
    """Of texts with several windows, for each number of questions and batch size."""
    count = score_sets(project(tmp_path), SCORES, processes, SETS, slice(3, 18, 7))
    proven("sets whose exact match and F1 are those of SQuAD", count)


# --- pretrained models --------------------------------------------------------------------------

TEXTS = "[question.context for part in data.load_questions(config) for question in part]"
WINDOWS = """
context = "Bo   sings. " + "Nothing else is said. " * 30
context += "\\u200bZoe left the town of Naïveté (1)."
start = context.index("the town")
questions = [
    data.Question(context, "Who left?", ((start, "the town of Naïveté"),)),
    data.Question(context, "Who sings? " * 50, ((0, "Bo"),)),
]
tokenizer, words, covered, question = data.build_tokenizer(config), [], [set(), set()], []
windows = data.make_windows(questions, config, 5)
for window in windows:
    covered[window.number - 5] |= {
        place for pair in zip(window.starts, window.ends) for place in range(*pair)
    }
    text = tokenizer.decode(list(window.tokens[: window.first]), skip_special_tokens=True)
    question.append(len(text))
    if window.span != (0, 0):
        words.append([window.number, context[slice(*window.find(*window.span))]])
missing = ["".join(context[place] for place in range(len(context)) if place not in c).split()
           for c in covered]
longest = max(len(window.tokens) for window in windows)
"""


@pytest.mark.sweep
@pytest.mark.parametrize("name", ENCODERS)
def test_a_pretrained_model_is_fine_tuned(name: str, tmp_path: Path) -> None:
    """Its windows cover the whole text, and an answer is at its characters."""
    folder = project(tmp_path, **pretrained(name, overlap=16))
    make_encoders(folder, TEXTS)
    words, missing, longest, question = ask(folder, WINDOWS, "[words, missing, longest, question]")
    assert longest == 64
    assert {tuple(pair) for pair in words} == {(5, "the town of Naïveté"), (6, "Bo")}
    assert all(set("".join(part)) <= {"\u200b"} for part in missing), "each word is in a window"
    assert 0 < min(question) < max(question) < 64, "a long question is cut"
    assert_is_tuned(folder, inputs=3)
    [row] = read_rows(run(folder, "predict.py", "Kelby was born in Oslo.", "Where?", "--json"))
    if row["answer"]:
        assert "Kelby was born in Oslo."[row["start"] : row["end"]] == row["answer"]


NOTE = """
collate = data.collate

def note(windows):
    tokens, mask, types, spans, windows = collate(windows)
    names = ("input_ids", "attention_mask", "token_type_ids", "start_positions", "end_positions")
    seen.append(dict(zip(names, (tokens, mask.long(), types, *spans.unbind(dim=1)), strict=True)))
    return tokens, mask, types, spans, windows
"""
# the same windows, and 9 tokens of padding behind them
PADDED = """
whole = all(bool(batch["attention_mask"].all()) for batch in batches)
answered = sum(int((batch["end_positions"] > 0).sum()) for batch in batches)
batch, padded = batches[0], {}
for name, values in batch.items():
    padded[name] = torch.nn.functional.pad(values, (0, 9)) if values.dim() > 1 else values
other.eval()
losses = []
with torch.no_grad():
    for given in (batch, padded):
        spans = torch.stack([given["start_positions"], given["end_positions"]], dim=1)
        output = other(**given)
        logits = torch.stack([output.start_logits, output.end_logits], dim=2)
        mask = given["attention_mask"] > 0
        losses.append([float(output.loss), float(train.compute_loss(logits, mask, spans).mean())])
more = [whole, answered, losses]
"""


@pytest.mark.sweep
def test_ten_steps_are_those_of_the_trainer_of_transformers(tmp_path: Path, proven) -> None:
    """From the same weights, with the same batches and optimizer, without dropout.

    Where windows have padding, the loss of Transformers' models depends on how much: ours does not.
    """
    more = {"dataset": "squad", "path": "same.jsonl", "overlap": 16}
    folder = project_of_steps(tmp_path, "question_answering", **more)
    rows = []  # texts of many words: all of their windows but the last have the same length
    for number in range(120):
        text = " ".join(str((number * 7 + word * 3) % 10) for word in range(46))
        found = {"text": [text[4:7]], "answer_start": [4]} if number % 3 else []
        rows.append({"context": text, "question": "1 2 3", "answers": found})
    write_lines(tmp_path / "same.jsonl", rows)
    make_encoders(folder, TEXTS)
    shifts = ["key.bias", "qa_outputs.bias", "layer.1.output.LayerNorm.bias"]
    whole, answered, losses = assert_ten_steps(folder, NOTE, shifts=shifts, more=PADDED)
    assert whole and 0 < answered < 80, "no padding, and questions with an answer and without"
    (theirs_alone, ours_alone), (theirs_padded, ours_padded) = losses
    assert ours_alone == pytest.approx(theirs_alone, abs=1e-5)
    assert abs(theirs_padded - theirs_alone) > 1e-3, "Transformers leaves padding out now"
    assert ours_padded == pytest.approx(ours_alone, abs=1e-5)
    proven("steps that are those of the Trainer of Transformers", 10)
