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
from data import Question, build_loaders, load_questions
from helpers import run
from metrics import score_answer


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


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
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


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    question = Question("Kelby was born in Norgate.", "Where was Kelby born?")
    found = predict.predict(config, model, [question, *load_questions(config)[2][:4]])
    rows = [row | {name: str(row[name]) for name in ("start", "end")} for row in found]
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
