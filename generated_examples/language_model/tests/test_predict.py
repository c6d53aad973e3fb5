"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import Accelerator, PartialState

import predict
import train
from data import build_loaders
from helpers import run
from model import build_tokenizer


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


@torch.inference_mode()
def test_a_text_is_drawn_token_by_token(trained):
    config, model = predict.load(trained[0], device="cpu")
    end = build_tokenizer(config).end
    starts = [[end], [end, 1, 2, 3, 4, 5]]
    for context, length in ((7, 0), (7, 1), (7, 6), (5, 4)):
        texts = predict.generate(model, starts, end, context, length, "cpu")
        for start, text in zip(starts, texts, strict=True):
            generator, tokens = torch.Generator().manual_seed(0), torch.tensor([start])
            while tokens.shape[1] < len(text) and end not in tokens[0, len(start) :]:
                logits = model(tokens[:, -context:])[:, -1]
                token = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)
                tokens = torch.cat([tokens, token], dim=1)
            assert text.tolist()[: tokens.shape[1]] == tokens[0].tolist()
            assert len(text) == len(start) + length or end in text[len(start) :]


def test_a_text_does_not_depend_on_the_others(trained):
    config, model = predict.load(trained[0])
    prompts = ["def main(", "x" * 3 * config.context, ""]
    together = predict.predict(config, model, prompts, length=8)
    alone = [predict.predict(config, model, [prompt], length=8)[0] for prompt in prompts]
    assert together == alone
    assert all(row["text"].startswith(row["prompt"]) for row in together)


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    accelerator = Accelerator(mixed_precision=getattr(config, "mixed_precision", "no"))
    model, loader = accelerator.prepare(model, build_loaders(config)[2])
    metrics = train.evaluate(accelerator, model, loader, "test", config.limit_batches)
    assert metrics["test_loss"] == pytest.approx(reported["test_loss"], rel=1e-6)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    rows = predict.predict(
        config, model, ["def main(", "import os", "", "x", "for line in"], length=8
    )
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
