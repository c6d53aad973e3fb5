from dataclasses import replace

import gradio as gr
import pytest
import torch
from torch import nn

import train
from data import Question, build_datasets, collate, load_questions, make_windows
from helpers import SETTINGS, build_exact_model
from metrics import decide, find_spans, score_answer

#: into tests/test_app.py
#: slot values
with pytest.raises(gr.Error, match="its question is not text"):
    page.fn("Kelby was born in Norgate.", " ")
values = ["Kelby was born in Norgate.", "Where was Kelby born?"]

#: slot expected
[row] = app.predict(config, model, [app.Question(*values)])
assert shown["text"] == values[0]
marked = [(mark["entity"], mark["start"], mark["end"]) for mark in shown["entities"]]
assert marked == ([("answer", row["start"], row["end"])] if row["answer"] else [])

#: into tests/test_features.py
#: slot tests
def test_a_window_has_the_answer_at_its_place():
    """The words that its tokens stand for, up to parts of words."""
    config = train.Config(**SETTINGS)
    for windows in build_datasets(config):
        for window in windows[:100]:
            answers = [words for _, words in window.question.answers]
            if window.span != (0, 0):
                start, end = window.find(*window.span)
                assert any(words in window.question.context[start:end] for words in answers)
            assert len(window.tokens) <= config.max_length
            assert len(window.tokens) >= window.first + len(window.starts)


def test_questions_about_a_text_are_in_one_split():
    parts = load_questions(train.Config(**SETTINGS))
    texts = [{question.context for question in part} for part in parts]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]


def test_a_long_text_has_several_windows():
    """Every token is in a window, and an answer is in each window that contains all of it."""
    config = train.Config(**SETTINGS)
    context = "word " * config.max_length + "Bo " + "word " * config.max_length
    question = Question(context, "Who?", ((context.index("Bo"), "Bo"),))
    windows = make_windows([question], config, 7)
    assert len(windows) > 2 and {window.number for window in windows} == {7}
    assert max(len(window.tokens) for window in windows) == config.max_length
    covered = {
        place for window in windows for place in zip(window.starts, window.ends, strict=True)
    }
    assert len(covered) >= len(context.split())
    found = [window for window in windows if window.span != (0, 0)]
    assert found and all("Bo" in context[slice(*window.find(*window.span))] for window in found)


def test_padding_does_not_change_a_window():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    questions = [
        Question("Bo sings.", "Who?"),
        Question("It rained all week. " * 3, "What rained?"),
    ]
    short, long = make_windows(questions, config)
    with torch.no_grad():
        alone, together = (model(*collate(part)[:3]) for part in ([short], [short, long]))
    size = len(short.tokens)
    torch.testing.assert_close(together[0, :size], alone[0, :size], rtol=0, atol=1e-5)
    mask, spans = torch.ones(1, size) > 0, torch.tensor([[1, 2]])
    expected = train.compute_loss(alone[:, :size], mask, spans)
    padded = torch.cat([alone[:, :size], torch.full((1, 3, 2), 9.0)], dim=1)
    mask = torch.cat([mask, torch.zeros(1, 3) > 0], dim=1)
    assert torch.equal(train.compute_loss(padded, mask, spans), expected)


def test_answers_are_compared_as_squad_does():
    """In words, without case, punctuation and articles, with the best of several references."""
    assert score_answer("The  Tower, of London!", ["tower of london"]) == (1, 6, 6)
    assert score_answer("in the tower", ["London", "the old tower"]) == (0, 2, 4)
    assert score_answer("", []) == score_answer("the", []) == (1, 1, 1)
    assert score_answer("tower", []) == score_answer("", ["tower"]) == (0, 0, 1)


def test_the_best_answer_is_in_the_text_and_not_too_long():
    """The highest logits are in padding, and of an answer with three tokens."""
    [window] = make_windows([Question("a b c d e", "Who?")], train.Config(**SETTINGS))
    first, logits = window.first, torch.zeros(1, len(window.tokens) + 2, 2)
    logits[0, first, 0], logits[0, -1] = 3, 9
    logits[0, first : first + 3, 1] = torch.tensor([0.0, 4.0, 5.0])
    logits[0, 0] = 2
    for longest, best, last in ((2, 7, first + 1), (3, 8, first + 2)):
        for optional, none in ((True, 4), (False, -torch.inf)):
            given = replace(window, longest=longest, optional=optional)
            score, span, other, _ = find_spans(logits, [given])
            assert (score.item(), other.item()) == (best, none)
            assert span.tolist() == [[first, last]]


def test_windows_of_a_question_are_decided_together():
    """Rows have the question, two scores, and how right the best answer and none are."""
    right, wrong, none = [1, 1, 1, 0, 0, 1], [0, 1, 2, 0, 0, 1], [0, 0, 1, 1, 1, 1]
    rows = [
        [4, 2.0, 1.0, *wrong],
        [7, 1.0, 5.0, *none],
        [4, 3.0, 9.0, *right],
        [7, 2.0, 3.0, *none],
    ]
    assert decide(torch.tensor(rows)).tolist() == [[1, 1], [1, 1]]
    rows[3][2] = 1.5  # in one window of the second question, an answer is more likely
    assert decide(torch.tensor(rows)).tolist() == [[1, 1], [0, 0]]
    assert decide(torch.tensor(rows[:1])).tolist() == [[0, 0.5]]

#: into tests/test_predict.py
#: slot metric
batches = read_batches(config)
seen = dict.fromkeys(window.number for *_, windows in batches for window in windows)
whole = sum(map(len, load_questions(config)[:2]))  # numbers of the other parts
known = [load_questions(config)[2][number - whole] for number in seen]
rows = predict.predict(config, model, known)
exact, f1 = [], []
for row, question in zip(rows, known, strict=True):
    references = [words for _, words in question.answers]
    right, numerator, denominator = score_answer(row["answer"], references)
    exact.append(right)
    f1.append(numerator / denominator)
    if row["answer"]:
        assert question.context[row["start"] : row["end"]] == row["answer"]
assert sum(exact) / len(exact) == pytest.approx(reported["test_exact_match"], rel=1e-12)
assert sum(f1) / len(f1) == pytest.approx(reported["test_f1"], rel=1e-12)

#: slot functions
def test_the_best_answer_of_all_windows_is_found(trained):
    """Of a model that points at its only "Bo", in a text of several windows."""
    config, _ = predict.load(trained[0])
    context = "One word after the other. " * config.max_length
    question = Question(context + "Then came Bo and went.", "Who came?")
    windows = predict.make_windows([question], config)
    assert len(windows) > 2
    place = context.count("") - 1 + len("Then came ")
    expected = [window for window in windows if window.ends[-1] > place + 1]

    class Knows(nn.Linear):
        def forward(self, tokens, mask, types):
            logits = torch.zeros(*tokens.shape, 2)
            for row, ids in zip(logits, tokens.tolist(), strict=True):
                for window in expected:
                    if ids[: len(window.tokens)] == list(window.tokens):
                        before = sum(end <= place for end in window.ends)
                        begun = sum(start < place + 2 for start in window.starts)
                        row[window.first + before, 0] = row[window.first + begun - 1, 1] = 20.0
            return logits

    [row] = predict.predict(config, Knows(1, 1), [question])
    assert (row["answer"], row["start"], row["end"]) == ("Bo", place, place + 2)
    assert 0.4 < row["score"] <= 1, "two windows may have it"


def test_files_and_two_texts_are_read(tmp_path):
    """A row that lacks something is named."""
    lines = [{"context": "Bo met Ann.", "question": "Who?"}, {"context": "Bo."}]
    (tmp_path / "a.jsonl").write_text(json.dumps(lines[0]) + "\n\n")
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, lines)))
    expected = Question("Bo met Ann.", "Who?")
    assert predict.read_inputs(None, ["Bo met Ann.", "Who?"]) == [expected]
    assert predict.read_inputs(None, 2 * [str(tmp_path / "a.jsonl")]) == 2 * [expected]
    with pytest.raises(SystemExit, match="b.jsonl, line 2: there is no 'question' in context"):
        predict.read_inputs(None, [str(tmp_path / "b.jsonl")])
    with pytest.raises(SystemExit, match="not 'one'"):
        predict.read_inputs(None, ["one"])

#: slot five
question = Question("Kelby was born in Norgate.", "Where was Kelby born?")
found = predict.predict(config, model, [question, *load_questions(config)[2][:4]])
rows = [row | {name: str(row[name]) for name in ("start", "end")} for row in found]
