"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from math import log
from pathlib import Path
from unittest import mock

import pytest
from accelerate import PartialState

import predict
import train
from data import build_loaders, load_questions
from helpers import run


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


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    seen = sum(len(labels) for *_, labels in read_batches(config))
    known = load_questions(config)[2][:seen]
    rows = predict.predict(config, model, known)
    right = [row["label"] == question.label for row, question in zip(rows, known, strict=True)]
    assert sum(right) / seen == pytest.approx(reported["test_accuracy"], rel=1e-6)
    probs = [r["probabilities"][q.label] for r, q in zip(rows, known, strict=True)]
    assert -sum(map(log, probs)) / seen == pytest.approx(reported["test_loss"], rel=1e-4)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    texts = ["a", "b c", "d", "e e e e", "f"]
    rows = predict.predict(config, model, [predict.Question(t, ("x", "y z", t)) for t in texts])
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
