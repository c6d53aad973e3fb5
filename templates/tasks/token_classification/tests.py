import pytest
import torch
from torch import nn

import train
from data import build_datasets, collate, encode, load_sentences, tag_names
from helpers import SETTINGS, build_exact_model
from metrics import IGNORED, count_entities, entity_scores, find_entities

#: into tests/test_app.py
#: slot values
values = ["Kelmond was born in Norby ."]

#: slot expected
[row] = app.predict(config, model, values)
assert shown["text"] == row["text"]
assert [e["entity"] for e in shown["entities"]] == [e["type"] for e in row["entities"]]

#: into tests/test_features.py
#: slot tests
def test_only_the_first_token_of_a_word_has_a_target():
    config = train.Config(**SETTINGS)
    names = tag_names(config)
    for sentences, samples in zip(load_sentences(config), build_datasets(config), strict=True):
        for (words, tags), (tokens, targets) in zip(sentences[:100], samples, strict=False):
            [(expected, starts)] = encode([words], config)
            assert tokens.tolist() == expected
            assert targets[starts].tolist() == [names.index(tag) for tag in tags[: len(starts)]]
            assert int((targets != IGNORED).sum()) == len(starts)


def test_a_batch_is_padded():
    rows = [(torch.tensor([1, 2, 3]), torch.tensor([IGNORED, 1, 2]))]
    rows += [(torch.tensor([4, 5, 6, 7]), torch.tensor([IGNORED, 0, 1, IGNORED]))]
    tokens, mask, targets = collate(rows)
    #: slot lengths
    assert tokens.tolist() == [[1, 2, 3, 0], [4, 5, 6, 7]]
    assert mask.tolist() == [[True, True, True, False], [True] * 4]
    assert targets.tolist() == [[IGNORED, 1, 2, IGNORED], [IGNORED, 0, 1, IGNORED]]


def test_padding_does_not_change_a_sentence():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    (short, _), (long, _) = encode([["Bo"], ["a", "longer", "sentence"]], config)
    samples = [(torch.tensor(tokens), torch.tensor(tokens)) for tokens in (short, long)]
    with torch.no_grad():
        alone, together = (model(*collate(part)[:2]) for part in (samples[:1], samples))
    torch.testing.assert_close(together[0, : len(short)], alone[0, : len(short)], rtol=0, atol=1e-5)


def test_entities_are_whole_and_begin_with_b():
    """Of the types 0 and 1: O is 0, B-0 is 1, I-0 is 2, B-1 is 3, and I-1 is 4."""
    assert find_entities([1, 2, 0, 3, 3, 4]) == {(0, 0, 2), (1, 3, 4), (1, 4, 6)}
    assert find_entities([2, 1, 4, 2, 0]) == {(0, 1, 2)}, "an I- that continues nothing counts"
    assert find_entities([]) == set()


def test_scores_are_those_of_the_whole_set():
    """Of two batches that were counted by hand: 3 entities, 4 predicted, and 2 of them right."""
    targets = [torch.tensor([[1, IGNORED, 2, 0], [0, 0, 3, IGNORED]]), torch.tensor([[1, 0]])]
    predictions = [torch.tensor([[1, 4, 2, 0], [1, 0, 1, 2]]), torch.tensor([[1, 0]])]
    pairs = zip(predictions, targets, strict=True)
    counts = sum(count_entities(*pair).sum(dim=0) for pair in pairs)
    assert counts.tolist() == [2, 4, 3]
    expected = {"precision": 2 / 4, "recall": 2 / 3, "f1": 4 / 7}
    assert entity_scores(counts) == pytest.approx(expected)
    assert set(entity_scores(torch.zeros(3)).values()) == {0.0}

#: slot lengths with tpu
assert tokens.shape == mask.shape == targets.shape == (2, 32)
tokens, mask, targets = tokens[:, :4], mask[:, :4], targets[:, :4]

#: into tests/test_predict.py
#: slot metric
seen = sum(len(tokens) for tokens, *_ in read_batches(config))
known = load_sentences(config)[2][:seen]
rows = predict.predict(config, model, [words for words, _ in known])
names, counts = tag_names(config), torch.zeros(3)
for row, (words, tags) in zip(rows, known, strict=True):
    text, spans = predict.split_words(words)
    actual = torch.eye(len(names))[[names.index(tag) for tag in tags]]
    expected, found = predict.read_entities(text, spans, actual, names), row["entities"]
    places = [{(e["type"], e["start"], e["end"]) for e in part} for part in (found, expected)]
    counts += torch.tensor([len(places[0] & places[1]), *map(len, places)])
for name, value in entity_scores(counts).items():
    assert value == pytest.approx(reported[f"test_{name}"], rel=1e-12)

#: slot functions
def test_entities_have_their_place_and_probability(trained):
    """Of a model that knows the first two words, and takes the fourth for one more."""
    config, _ = predict.load(trained[0])
    names = tag_names(config)
    kind = names[1][2:]

    class Knows(nn.Linear):
        def forward(self, tokens, mask):
            probs = torch.zeros(*tokens.shape, len(names)).index_fill(2, torch.tensor(0), 0.5)
            text = [["Bo", "Kim", ",", "Li"]]
            (_, starts), *_ = predict.encode(text, config)
            for start, tag, prob in zip(starts, (1, 2, 0, 1), (0.5, 0.8, 1, 0.9), strict=True):
                probs[0, start] = (1 - prob) / (len(names) - 1)
                probs[0, start, tag] = prob
            return probs.log()

    rows = predict.predict(config, Knows(1, 1), ["Bo Kim,  Li", ""])
    assert [row["text"] for row in rows] == ["Bo Kim,  Li", ""]
    first, second = rows[0]["entities"]
    bo = {"type": kind, "entity": "Bo Kim", "start": 0, "end": 6}
    assert first == {**bo, "probability": pytest.approx(0.4)}
    li = {"type": kind, "entity": "Li", "start": 9, "end": 11}
    assert second == {**li, "probability": pytest.approx(0.9)}
    assert rows[1]["entities"] == []


def test_entities_are_written_one_in_a_row(capsys):
    entity = {"type": "PER", "entity": "Bo", "start": 0, "end": 2, "probability": 0.5}
    rows = [{"text": "a", "entities": []}, {"text": "Bo", "entities": [entity]}]
    predict.write(rows, as_json=False)
    assert capsys.readouterr().out == "line,type,entity,start,end,probability\n2,PER,Bo,0,2,0.5\n"
    predict.write(rows, as_json=True)
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == rows

#: slot five
texts = ["Kelmond was born in Norby .", "", "It rained.", "Zanby", ["Ulton", "works", "for", "Bo"]]
found = predict.predict(config, model, texts)
rows = [{"text": row["text"], "found": json.dumps(row["entities"])} for row in found]
