"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import PartialState

import predict
import train
from contrast import rank_positives
from data import build_datasets, build_loaders, number_texts
from helpers import run
from metrics import retrieval_scores


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


def test_the_closest_texts_come_first(trained):
    """Each text is the closest to itself; the other cosines are those of the vectors."""
    config, model = predict.load(trained[0])
    texts = list(number_texts(config))[:7]
    rows = predict.predict(config, model, texts)
    vectors = torch.tensor([row["vector"] for row in rows])
    torch.testing.assert_close(vectors.norm(dim=1), torch.ones(7), rtol=0, atol=1e-5)
    cosines = vectors @ vectors.T
    for place, row in enumerate(predict.search(rows, rows, 3)):
        assert row["text"] == texts[place]
        found = [one["similarity"] for one in row["found"]]
        assert found == pytest.approx(cosines[place].topk(3).values.tolist(), abs=1e-6)
        others = [texts.index(one["text"]) for one in row["found"]]  # equal vectors in any order
        assert found == pytest.approx(cosines[place, others].tolist(), abs=1e-6)
    assert [len(row["found"]) for row in predict.search(rows[:2], rows[:2], 5)] == [2, 2]


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    seen = sum(len(numbers) for *_, numbers in read_batches(config))
    known = build_datasets(config)[2][:seen]
    texts = [text for row, _ in known for text in row]
    rows = predict.predict(config, model, texts)
    assert [row["text"] for row in rows] == texts
    vectors = torch.tensor([row["vector"] for row in rows]).unflatten(0, (seen, -1))
    numbers = torch.tensor([numbers for _, numbers in known])
    losses, ranks = rank_positives(vectors, numbers, config.temperature)
    assert float(losses.mean()) == pytest.approx(reported["test_loss"], rel=1e-4)
    for name, value in retrieval_scores(ranks).items():
        assert value == pytest.approx(reported[f"test_{name}"], rel=1e-12)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    texts = ["The doctor bought the car.", "", "one word", "A longer text. " * 100, "!"]
    found = predict.predict(config, model, texts)
    rows = [{f"{place}": value for place, value in enumerate(row["vector"])} for row in found]
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
