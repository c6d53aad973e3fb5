import pytest
import torch

import train
from data import Question, build_datasets, collate, encode_questions, load_questions, read_question
from helpers import SETTINGS, build_exact_model
from metrics import hide_padding

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
