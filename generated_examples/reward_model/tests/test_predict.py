"""predict.py gives the metrics that training reported."""

import json
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest
from accelerate import Accelerator, PartialState

import predict
import train
from data import Conversation, build_loaders
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


PAIR = {"prompt": "a", "chosen": "b", "rejected": "c"}


def test_conversations_of_a_file(trained, tmp_path):
    """Of rows with messages, and of the pairs of training."""
    config, path = predict.load(trained[0])[0], tmp_path / "chats.jsonl"
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    path.write_text("\n\n".join(map(json.dumps, [{"messages": chat}, PAIR])) + "\n")
    one, chosen, rejected = predict.read_inputs(config, [str(path)])
    assert one.messages == chosen.messages == chat
    assert rejected.messages[-1]["content"] == "c" and rejected.place.endswith("line 3")
    path.write_text('{"prompt": "a"}\n')
    with pytest.raises(SystemExit, match="chats.jsonl, line 1 has prompt: it needs"):
        predict.read_inputs(config, [str(path)])


def write_chats(*answers: str) -> list[Conversation]:
    question = {"role": "user", "content": "add 1 to 20"}
    chats = [[question, {"role": "assistant", "content": text}] for text in answers]
    return [Conversation(messages, "here") for messages in chats]


def test_predictions_give_the_metric_of_the_test(trained):
    folder, reported = trained
    config, model = predict.load(folder)
    assert not model.training and config.limit_batches == 2
    accelerator = Accelerator(mixed_precision=getattr(config, "mixed_precision", "no"))
    model, loader = accelerator.prepare(model, build_loaders(config)[2])
    metrics = train.evaluate(accelerator, model, loader, "test", config.limit_batches)
    assert metrics["test_accuracy"] == pytest.approx(reported["test_accuracy"], rel=1e-6)


def predict_five(folder: Path) -> None:
    """Write the rows of five inputs, which test_distributed.py compares, into the run's folder."""
    config, model = predict.load(folder)
    rows = predict.predict(config, model, write_chats("21", "a longer answer", "12", "", "x"))
    state = PartialState()
    if state.is_main_process:
        (folder / f"{state.num_processes}.json").write_text(json.dumps(rows))


def test_a_run_without_weights(tmp_path):
    with pytest.raises(SystemExit, match="config.json can.t be read"):
        predict.load(tmp_path)
