"""Reward models on a user's files, with pretrained models, on several processes, beside TRL."""

from functools import partial
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.chat_models import make_chat_project, write_pairs
from support.in_order import OFF, ten_losses
from support.rendering import of_task
from support.training import ask, assert_evaluated, count_passed, run, run_tests, tell

pytestmark = pytest.mark.train

make_project = partial(make_chat_project, "reward_model")

BRIEF = ["--epochs", "1", "--max-steps", "4", "--batch-size", "4"]
PRETRAINED = of_task("reward_model", model="pretrained", context=128, model_name="llama_chatml")
OF_A_FILE = of_task("reward_model", dataset="jsonl")


def test_a_users_file_trains(tmp_path: Path) -> None:
    """On two processes. A pair of equal answers is named. predict.py reads the same rows."""
    small = of_task("reward_model", width=16, layers=1, heads=2)
    project = make_project(tmp_path, {**OF_A_FILE, **small})
    lines = write_pairs(project / "pairs.jsonl", 12)
    equal = '{"prompt": "a", "chosen": "b", "rejected": "b"}'
    (project / "pairs.jsonl").write_text("\n".join([equal, *lines, equal]) + "\n")
    trained = run(project, "train.py", *BRIEF, "--batch-size", "2", processes=2)
    expected = "pairs.jsonl, line 1: chosen and rejected are equal. Such pairs are left out: 2."
    assert trained.count(expected) == 1
    assert len(run(project, "predict.py", "pairs.jsonl").strip().split("\n")) == 1 + 2 * 14


LOADED = """
import json
import sys
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

folder, *rows = sys.argv[1:]
model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
tokenizer = AutoTokenizer.from_pretrained(folder)
rewards = []
for row in map(json.loads, rows):
    for answer in (row["chosen"], row["rejected"]):
        chat = [{"role": "user", "content": row["prompt"]}]
        chat.append({"role": "assistant", "content": answer})
        tokens = tokenizer.apply_chat_template(chat, return_tensors="pt", return_dict=True)
        with torch.no_grad():
            rewards.append(model(**tokens).logits.item())
print(json.dumps(rewards))
"""


@pytest.mark.sweep
@pytest.mark.parametrize("adapters", [False, True])
def test_transformers_loads_the_exported_folder(adapters: bool, tmp_path: Path) -> None:
    """It gives the rewards of predict.py, also from merged adapters with the new layer."""
    given = {**PRETRAINED, **OF_A_FILE, "features.export.enabled": True}
    project = make_project(tmp_path, {**given, "features.lora.enabled": adapters}, "llama_chatml")
    lines = write_pairs(project / "pairs.jsonl", 40)
    for command in (
        ["train.py", *BRIEF, "--learning-rate", "0.01"],
        ["export.py", "--format", "transformers", "--output", "out"],
    ):
        run(project, *command)
    asked = run(project, "predict.py", "pairs.jsonl")
    rewards = [float(line.split(",")[-1]) for line in asked.strip().split("\n")[1:]]
    found = tell(project, LOADED, "out", *lines[:-2], real=True)  # those whose prompts are texts
    assert len(found) == 76 and len(set(found)) > 40
    assert found == pytest.approx(rewards[:76], rel=0, abs=1e-5)


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["llama_none", "gpt2_none", "qwen3_thinks"])
def test_a_pretrained_model_passes_the_tests_of_its_project(model: str, tmp_path: Path) -> None:
    given = {**PRETRAINED, "reward_model.model_name": model}
    assert count_passed(run_tests(make_project(tmp_path, given, model))) >= 28


# the metrics of the test data from their definition, in double precision and pair by pair
BY_DEFINITION = """
import torch
from predict import load, predict, read_inputs

config, model = load(device="cpu")
rows = predict(config, model.double(), read_inputs(config, ["pairs.jsonl"]))
margins = [one["reward"] - other["reward"] for one, other in zip(rows[::2], rows[1::2])]
count = len(margins)
found = {
    "test_loss": sum(torch.tensor(-margin).exp().log1p().item() for margin in margins) / count,
    "test_accuracy": sum(margin > 0 for margin in margins) / count,
    "test_margin": sum(margins) / count,
}
"""


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["gpt", "pretrained"])
def test_metrics_are_those_of_their_definition_on_any_processes(model: str, tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, with a number of pairs that none of them divides."""
    given: dict[str, Value] = {"features.evaluate.enabled": True, **OF_A_FILE}
    given |= PRETRAINED if model == "pretrained" else {}
    project = make_project(tmp_path, given, *["llama_chatml"] * (model == "pretrained"))
    write_pairs(project / "pairs.jsonl", 131)
    flags = ["--epochs", "1", "--batch-size", "16", "--learning-rate", "0.003"]
    run(project, "train.py", *flags, "--test-path", "pairs.jsonl")
    expected = ask(project, BY_DEFINITION, "found")
    assert expected["test_accuracy"] > 0.1
    assert_evaluated(project, expected, rel=1e-4, abs=1e-5)


TRL = """
from data import Pairs, write_pairs
from datasets import Dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from trl import RewardConfig, RewardTrainer

NAME = "llama_chatml"
torch.manual_seed(0)  # of the layer for the reward
tokenizer = AutoTokenizer.from_pretrained(NAME)
tokenizer.pad_token = tokenizer.eos_token
# both begin with the same layer for the reward
model = AutoModelForSequenceClassification.from_pretrained(NAME, num_labels=1).float()
model.save_pretrained(NAME)
pairs = with_marks(write_pairs()[:80])
# with AdamW, a gradient near zero makes a whole step of what the two round differently
train.build_optimizer = lambda model, config: torch.optim.SGD(
    model.parameters(), config.learning_rate
)
same = {"learning_rate": 0.1, "center_rewards_coefficient": 0.02}
ours = train_in_order(lambda config: Pairs(pairs, config), **WINDOW, **same, model_name=NAME)
InOrder, losses = in_order(RewardTrainer)
named = lambda pair: {"chosen": pair.chosen, "rejected": pair.rejected}
InOrder(
    model=AutoModelForSequenceClassification.from_pretrained(NAME, dtype=torch.float32),
    args=RewardConfig(**ARGUMENTS_OF_TRL, **same, optim="sgd"),
    train_dataset=Dataset.from_list([named(pair) for pair in pairs]),
    processing_class=tokenizer,
).train()
theirs = [both / 2 for both in sums_of_two(losses)]
"""


@pytest.mark.sweep
def test_ten_steps_are_those_of_trl(tmp_path: Path) -> None:
    """From the same weights, with the same batches and optimizer, in windows of two batches."""
    pytest.importorskip("trl", exc_type=ImportError)
    given = {**PRETRAINED, **OFF, "training.gradient_accumulation_steps": 2}
    ours = ten_losses(make_project(tmp_path, given, "llama_chatml"), TRL)
    assert min(ours) < 0.98 * ours[0]
