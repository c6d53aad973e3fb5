"""predict.py gives the metrics that training reported."""

import json
import math
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import PartialState
from torch import nn

import predict
import train
from data import MASK, build_loaders, build_tokenizer
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


def test_masks_are_filled_with_the_most_likely_tokens(trained):
    """One mask at a time, with the best tokens for the others, independently of other texts."""
    config, model = predict.load(trained[0])
    tokenizer = build_tokenizer(config)
    letters = [tokenizer.encode_masked(letter + MASK) for letter in "xyz"]
    [place] = [n for n, token in enumerate(letters[0]) if token != letters[1][n]]
    x, y, z = (tokens[place] for tokens in letters)

    class Knows(nn.Linear):
        def forward(self, tokens, mask):
            logits = torch.full((*tokens.shape, tokenizer.size), -99.0)
            logits[..., x], logits[..., y] = math.log(0.7), math.log(0.3)
            logits[tokens == z, :] = 0
            return logits

    texts = [f"a {MASK} b {MASK}", f"{MASK} c"]
    rows = predict.predict(config, Knows(1, 1), texts, 2)
    seen = [(row["text"], row["mask"]) for row in rows[::2]]
    assert seen == [(texts[0], 1), (texts[0], 2), (texts[1], 1)] and len(rows) == 6
    assert [row["probability"] for row in rows] == pytest.approx([0.7, 0.3] * 3)
    assert len({row["filled"] for row in rows[:4]}) == 3, "the first of each are the same"
    found = predict.predict(config, model, texts[1:], 2)
    together = predict.predict(config, model, texts, 2)[4:]
    for row, other in zip(found, together, strict=True):
        assert row["filled"] == other["filled"]
        assert row["probability"] == pytest.approx(other["probability"], rel=1e-4)


def test_a_text_without_a_mask_or_too_long_is_refused(trained):
    config, model = predict.load(trained[0])
    for text, said in (("no mask", "Write .MASK. for"), (MASK + " a" * 999, "--max-length")):
        with pytest.raises(SystemExit, match=said):
            predict.predict(config, model, [text])


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    seen = {"loss": 0.0, "tokens": 0, "right": 0}
    for inputs, mask, targets in read_batches(config):
        with torch.no_grad():
            logits = model(inputs, mask).double()
        for row, place in (targets >= 0).nonzero().tolist():
            scores, target = logits[row, place].log_softmax(dim=-1), int(targets[row, place])
            seen["loss"] -= float(scores[target])
            seen["right"] += int(scores.argmax()) == target
            seen["tokens"] += 1
    assert reported["test_perplexity"] == pytest.approx(
        math.exp(seen["loss"] / seen["tokens"]), 1e-5
    )
    assert reported["test_accuracy"] == pytest.approx(seen["right"] / seen["tokens"], rel=1e-6)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    texts = ["for [MASK]", "[MASK]", "import [MASK]s", "def [MASK][MASK]", "x = [MASK]"]
    found = predict.predict(config, model, texts, 1)
    rows = [row for row in found if row["mask"] == 1]
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
