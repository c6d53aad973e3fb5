"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
from accelerate import Accelerator, PartialState

import predict
import train
from data import build_loaders
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


def test_an_answer_does_not_depend_on_the_others(trained):
    config, model = predict.load(trained[0])
    prompts = ["add 3 to 14", [{"role": "user", "content": "sort cab"}], ""]
    together = predict.predict(config, model, prompts, length=8)
    alone = [predict.predict(config, model, [prompt], length=8)[0] for prompt in prompts]
    assert together == alone
    assert [row["prompt"] for row in together] == ["add 3 to 14", "sort cab", ""]


def test_prompts_of_a_file(trained, tmp_path):
    config, path = predict.load(trained[0])[0], tmp_path / "prompts.jsonl"
    question, answer = {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}
    rows = [{"prompt": "a", "id": 1}, {"messages": [question]}, {"messages": [question, answer]}]
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n")
    assert predict.read_inputs(config, [str(path)]) == ["a", [question], [question]]
    path.write_text('{"prompt": "a"}\n{"text": "b"}\n')
    with pytest.raises(SystemExit, match="prompts.jsonl, line 2 has text"):
        predict.read_inputs(config, [str(path)])


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
        config, model, ["add 1 to 20", "reverse ab", "", "x", "sort ca"], length=8
    )
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
