"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import PartialState
from torch import nn

import predict
import train
from data import build_loaders, load_sentences, tag_names
from helpers import run
from metrics import entity_scores


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Path, dict[str, float]]:
    """The folder of a run of two steps, and the metrics that it reported."""
    folder, reported, evaluate = tmp_path_factory.mktemp("run"), {}, train.evaluate

    def note(*values):
        metrics = evaluate(*values)
        reported.update(metrics)
        return metrics

    with mock.patch.object(train, "evaluate", note):
        run(folder, epochs=1, limit_batches=2)
    return folder, reported


def read_batches(config) -> list:
    """The test batches that the run evaluated."""
    return list(islice(build_loaders(config)[2], config.limit_batches))


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


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
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


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    texts = [
        "Kelmond was born in Norby .",
        "",
        "It rained.",
        "Zanby",
        ["Ulton", "works", "for", "Bo"],
    ]
    found = predict.predict(config, model, texts)
    rows = [{"text": row["text"], "found": json.dumps(row["entities"])} for row in found]
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
