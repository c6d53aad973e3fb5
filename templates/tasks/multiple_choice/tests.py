from math import log

import gradio as gr
import pytest
import torch

import train
from data import Question, build_datasets, collate, encode_questions, load_questions, read_question
from helpers import SETTINGS, build_exact_model
from metrics import hide_padding

#: into tests/test_app.py
#: slot values
with pytest.raises(gr.Error, match="it needs two choices or more"):
    page.fn("a text", "one")
values = ["Ann picks up the axe.", "Ann splits the logs.\n\nAnn bakes a cake."]

#: slot expected
choices = ("Ann splits the logs.", "Ann bakes a cake.")
[row] = app.predict(config, model, [Question(values[0], choices)])
assert list(shown) == list(choices)
assert list(shown.values()) == row["probabilities"]

#: into tests/test_features.py
#: slot tests
QUESTIONS = [
    Question("Ann sings.", ("Bo too.", "It rains."), 1),
    Question("It rained all week.", ("Bo", "Ann left the house.", "Everybody", "Nobody came."), 2),
]


def test_each_choice_follows_its_text():
    """The first token of a choice is where its text ends, and no row is too long."""
    config = train.Config(**SETTINGS)
    for questions, samples in zip(load_questions(config), build_datasets(config), strict=True):
        for question, sample in zip(questions[:100], samples, strict=False):
            assert len(sample.choices) == len(question.choices)
            assert sample.label == question.label
            (one, start), (other, place) = sample.choices[:2]
            if max(len(one), len(other)) < config.max_length:  # neither is cut
                assert place == start and torch.equal(one[:start], other[:place])
            assert all(first < len(tokens) for tokens, first in sample.choices)
            assert max(len(tokens) for tokens, _ in sample.choices) <= config.max_length


def test_padding_changes_nothing():
    """Neither longer rows nor more choices: the scores, the loss and its gradients."""
    config = train.Config(**SETTINGS)
    samples = encode_questions(QUESTIONS, config)
    found = {}
    for name, batches in {"alone": [samples[:1], samples[1:]], "together": [samples]}.items():
        torch.manual_seed(0)
        model, losses = build_exact_model(config).eval(), []
        for batch in batches:
            *inputs, labels = collate(batch)
            losses.append(train.compute_loss(model(*inputs), inputs[1], labels))
        torch.cat(losses).sum().backward()
        weights = [weight.grad for weight in model.parameters() if weight.grad is not None]
        found[name] = [torch.cat(losses).detach(), *weights]
    for one, other in zip(*found.values(), strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(other, one, rtol=0, atol=1e-5)


def test_padded_choices_are_never_chosen():
    *inputs, _ = collate(encode_questions(QUESTIONS, train.Config(**SETTINGS)))
    scores = torch.tensor([[1.0, 2.0, 9.0, 9.0], [1.0, 2.0, 3.0, 4.0]])
    hidden = hide_padding(scores, inputs[1])
    assert hidden.argmax(dim=1).tolist() == [1, 3]
    assert hidden.softmax(dim=1)[0, 2:].tolist() == [0.0, 0.0]


def test_rows_are_read_in_both_formats():
    swag = {"sent1": "Ann sings.", "sent2": "She", "ending0": "eats", "ending1": "runs"}
    expected = Question("Ann sings.", ("She eats", "She runs"), 1)
    assert read_question({**swag, "ending2": "", "label": "1"}, "here") == expected
    plain = {"context": "Ann sings.", "choices": ["She eats", "She runs"], "label": 1}
    assert read_question(plain, "here") == expected
    with pytest.raises(SystemExit, match="here: its label is 2, not one of 0 to 1"):
        read_question({**plain, "label": 2}, "here")

#: into tests/test_predict.py
#: slot metric
seen = sum(len(labels) for *_, labels in read_batches(config))
known = load_questions(config)[2][:seen]
rows = predict.predict(config, model, known)
right = [row["label"] == question.label for row, question in zip(rows, known, strict=True)]
assert sum(right) / seen == pytest.approx(reported["test_accuracy"], rel=1e-6)
probs = [r["probabilities"][q.label] for r, q in zip(rows, known, strict=True)]
assert -sum(map(log, probs)) / seen == pytest.approx(reported["test_loss"], rel=1e-4)

#: slot functions
def test_inputs_are_a_text_and_its_choices_or_files(tmp_path):
    path, config = tmp_path / "two.jsonl", train.Config()
    one = predict.Question("a", ("b", "c"))
    lines = [
        {"context": "a", "choices": ["b", "c"]},
        {"sent1": "a", "ending0": "b", "ending1": "c"},
    ]
    path.write_text("\n\n".join(map(json.dumps, lines)))
    assert predict.read_inputs(config, ["a", "b", "c"]) == [one]
    assert predict.read_inputs(config, [str(path)]) == [one, one]
    with pytest.raises(SystemExit, match="The input: it needs two choices or more"):
        predict.read_inputs(config, ["a", "b"])
    path.write_text("\nno object")
    with pytest.raises(SystemExit, match="two.jsonl, line 2 is not JSON"):
        predict.read_inputs(config, [str(path)])


def test_a_question_does_not_depend_on_the_others(trained):
    """Even if other questions have more choices."""
    config, model = predict.load(trained[0])
    questions = [predict.Question("a", ("b", "c c c c")), predict.Question("d e", tuple("fghij"))]
    together = predict.predict(config, model, questions)
    for question, row in zip(questions, together, strict=True):
        [alone] = predict.predict(config, model, [question])
        assert alone["probabilities"] == pytest.approx(row["probabilities"], rel=1e-4)
        assert row["choice"] == question.choices[row["label"]]
        assert sum(row["probabilities"]) == pytest.approx(1)

#: slot five
texts = ["a", "b c", "d", "e e e e", "f"]
rows = predict.predict(config, model, [predict.Question(t, ("x", "y z", t)) for t in texts])
