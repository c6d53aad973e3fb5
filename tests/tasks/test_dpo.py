"""Preference optimisation on a user's files, with pretrained models, and beside TRL."""

import json
from functools import partial
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.machine.model import Model, know_model
from support.chat_models import make_chat_project, write_pairs
from support.in_order import OFF, ten_losses
from support.rendering import of_task
from support.training import ask, assert_evaluated, count_passed, run, run_tests, tell

pytestmark = pytest.mark.train

make_project = partial(make_chat_project, "dpo")

BRIEF = ["--epochs", "1", "--max-steps", "4", "--batch-size", "4"]
SMALL: dict[str, Value] = {"dpo.width": 16, "dpo.layers": 1, "dpo.heads": 2}
PRETRAINED: dict[str, Value] = {"dpo.model": "pretrained", "dpo.context": 128}


def test_a_users_file_trains(tmp_path: Path) -> None:
    """predict.py reads rows of this form, too."""
    project = make_project(tmp_path, {"dpo.dataset": "jsonl", **SMALL})
    lines = write_pairs(project / "pairs.jsonl", 12)
    trained = run(project, "train.py", *BRIEF)
    assert trained.count("<assistant>[[") == 2, "both answers of the first pair are shown"
    (project / "prompts.jsonl").write_text(lines[0] + "\n" + lines[-1] + "\n")
    asked = run(project, "predict.py", "prompts.jsonl", "hello", "--length", "3")
    assert len(asked.split("\n")) == 3 + 1


def test_kto_reads_four_texts_for_each_pair(tmp_path: Path) -> None:
    """The memory that is told counts them."""
    catalog, kept = load_catalog(), {}
    for loss in ("sigmoid", "kto"):
        answers = resolve(catalog, {"project.task": "dpo", "dpo.loss": loss})
        model = know_model(catalog, answers, tmp_path)
        assert isinstance(model, Model) and model.layers
        kept[loss] = model.layers.tokens
    assert kept["kto"] == 2 * kept["sigmoid"] == 4 * 128


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("model", "loss"),
    {
        **dict.fromkeys(["llama_none", "qwen3_thinks"], "sigmoid"),
        **dict.fromkeys(["llama_chatml", "gpt2_none"], "ipo"),
    }.items(),
)
def test_a_pretrained_model_passes_the_tests_of_its_project(
    model: str, loss: str, tmp_path: Path
) -> None:
    given = {**PRETRAINED, "dpo.loss": loss, "dpo.model_name": model}
    assert count_passed(run_tests(make_project(tmp_path, given, model))) >= 38


@pytest.mark.sweep
@pytest.mark.parametrize("loss", ["ipo", "simpo", "orpo", "kto"])
def test_the_proof_holds_with_the_other_losses(loss: str, tmp_path: Path) -> None:
    project = make_project(tmp_path, {"dpo.loss": loss, "features.evaluate.enabled": True})
    assert count_passed(run_tests(project)) >= 38


# the metrics of the test data from their definition, in double precision and pair by pair
BY_DEFINITION = """
import torch
from predict import load
from data import build_datasets
from model import build_model

def log_prob(model, sample):
    inputs, targets = sample
    logits = model(inputs[None])[0].double().log_softmax(dim=-1)
    counted = targets != -100
    return logits[counted].gather(1, targets[counted][:, None]).sum().item()

config, model = load(device="cpu")
torch.manual_seed(config.seed)
before = build_model(config).eval()
losses, margins = [], []
with torch.no_grad():
    for *pair, _, _ in build_datasets(config)[2]:
        gains = [log_prob(model, part) - log_prob(before, part) for part in pair]
        margins.append(config.beta * (gains[0] - gains[1]))
        losses.append(torch.tensor(-margins[-1]).exp().log1p().item())
count = len(losses)
found = {
    "test_loss": sum(losses) / count,
    "test_reward_accuracy": sum(margin > 0 for margin in margins) / count,
    "test_reward_margin": sum(margins) / count,
}
"""


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["gpt", "pretrained"])
def test_metrics_are_those_of_their_definition_on_any_processes(model: str, tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, with a number of pairs that none of them divides."""
    given: dict[str, Value] = {"features.evaluate.enabled": True, "dpo.dataset": "jsonl"}
    if model == "pretrained":
        given |= {**PRETRAINED, "dpo.model_name": "llama_chatml"}
    project = make_project(tmp_path, given, *["llama_chatml"] * (model == "pretrained"))
    write_pairs(project / "pairs.jsonl", 131)
    flags = ["--epochs", "1", "--batch-size", "16", "--learning-rate", "0.003"]
    run(project, "train.py", *flags, "--test-path", "pairs.jsonl")
    expected = ask(project, BY_DEFINITION, "found")
    assert expected["test_reward_accuracy"] > 0.1
    assert_evaluated(project, expected, rel=1e-4, abs=1e-5)


LORA = """
import torch
from adapters import add_adapters
from reference import answer_log_probs

inputs, targets, reference, _ = next(iter(data.build_loaders(config)[1]))
model = add_adapters(model.build_model(config), config).eval()
for name, weight in model.named_parameters():
    if ".lora_B" in name:
        torch.nn.init.normal_(weight)  # as after training
with torch.no_grad():
    changed = answer_log_probs(model, inputs, targets)
    with model.model.disable_adapter():
        off = answer_log_probs(model, inputs, targets)
gaps = [(found - reference).abs().max().item() for found in (off, changed)]
"""


@pytest.mark.sweep
def test_the_reference_of_lora_is_the_model_without_adapters(tmp_path: Path) -> None:
    given = {**PRETRAINED, "features.lora.enabled": True, "dpo.model_name": "llama_chatml"}
    project = make_project(tmp_path, given, "llama_chatml")
    off, changed = ask(project, LORA, "gaps")
    assert off < 1e-4 and changed > 0.1
    run(project, "train.py", *BRIEF, "--learning-rate", "0.001", processes=2)
    run(project, "predict.py", "add 1 to 120", "--length", "3")


@pytest.mark.sweep
def test_it_continues_from_an_exported_chat_model(tmp_path: Path) -> None:
    """What the task `sft` exports for transformers is where the policy and the reference begin."""
    given = of_task("sft", model="pretrained", context=128, model_name="llama_chatml")
    given["features.export.enabled"] = True
    tuned = make_chat_project("sft", tmp_path / "tuned", given, "llama_chatml")
    export = ["export.py", "--format", "transformers", "--output", "../chat"]
    for command in (["train.py", *BRIEF], export):
        run(tuned, *command)
    project = make_project(tmp_path / "project", {**PRETRAINED, "dpo.model_name": "../chat"})
    run(project, "train.py", *BRIEF, "--log-every", "1")
    rows = [json.loads(row) for row in (project / "runs/latest/metrics.jsonl").open()]
    assert rows[0]["loss"] == pytest.approx(0.693147, abs=1e-4), "the first step has no gap"


# TRL's trainer for KTO passes the answers of a batch's texts on to the next: with all preferred
# ones first, each prompt gets those of the pair before it, as in its own Pairs
TRL = """
from data import Pairs, write_pairs
from datasets import Dataset
from reference import Reference
from torch.utils.data import ConcatDataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer

NAME, LOSS = "llama_chatml", sys.argv[1]
KTO = LOSS == "kto"
# without what most templates write after the end of an answer, which TRL counts
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
tokenizer = AutoTokenizer.from_pretrained(NAME)
tokenizer.chat_template = TEMPLATE
tokenizer.save_pretrained(NAME)
pairs = with_marks(write_pairs()[:80])

def list_samples(config):
    starts = range(0, len(pairs), size := config.batch_size if KTO else len(pairs))
    return ConcatDataset([Pairs(pairs[n : n + size], config, Reference(config)) for n in starts])

same = {"learning_rate": 0.01, "beta": 0.5 if KTO else train.Config.beta}
ours = train_in_order(list_samples, **WINDOW, **same, model_name=NAME)
if KTO:
    named = lambda chat, label: {"prompt": chat[:-1], "completion": chat[-1:], "label": label}
    rows = []
    for start in range(0, len(pairs), 4):
        rows += [named(pair.chosen, True) for pair in pairs[start : start + 4]]
        rows += [named(pair.rejected, False) for pair in pairs[start : start + 4]]
    ARGUMENTS_OF_TRL["per_device_train_batch_size"] = 8  # texts
    same |= {"desirable_weight": 1.25, "undesirable_weight": 0.75}
else:
    rows = [
        {"prompt": p.chosen[:-1], "chosen": p.chosen[-1:], "rejected": p.rejected[-1:]}
        for p in pairs
    ]
InOrder, losses = in_order(KTOTrainer if KTO else DPOTrainer)
InOrder(
    model=AutoModelForCausalLM.from_pretrained(NAME, dtype=torch.float32),
    ref_model=AutoModelForCausalLM.from_pretrained(NAME, dtype=torch.float32),
    args=(KTOConfig if KTO else DPOConfig)(**ARGUMENTS_OF_TRL, **same, loss_type=LOSS),
    train_dataset=Dataset.from_list(rows),
    processing_class=tokenizer,
).train()
theirs = [both / 2 for both in sums_of_two(losses)]
"""


@pytest.mark.sweep
@pytest.mark.parametrize("loss", ["sigmoid", "ipo", "kto"])
def test_losses_are_those_of_trl(loss: str, tmp_path: Path) -> None:
    """From the same weights, with the same batches and optimizer, in windows of two batches."""
    pytest.importorskip("trl", exc_type=ImportError)
    given: dict[str, Value] = {**PRETRAINED, **OFF, "training.gradient_accumulation_steps": 2}
    given |= {"dpo.loss": loss, "dpo.model_name": "llama_chatml"}
    if loss == "kto":
        given |= {"dpo.desirable_weight": 1.25, "dpo.undesirable_weight": 0.75}
    ours = ten_losses(make_project(tmp_path, given, "llama_chatml"), TRL, loss)
    assert ours[-1] < 0.9 * ours[0]


# without a trainer: the functions of TRL 1.16 with the settings that they read
FUNCTIONS = """
import json
from types import SimpleNamespace
import torch
from reference import find_gaps
from train import Config, compute_loss
from trl.experimental.cpo import CPOTrainer
from trl.experimental.orpo import ORPOTrainer

beta = Config.beta
given = SimpleNamespace(beta=beta, simpo_gamma=0.5 * beta, loss_type="simpo", label_smoothing=0.0)
given.alpha, given.accelerator = 0.0, SimpleNamespace(device="cpu")
log_probs = -5 * torch.rand(1000, 2) - 1e-3
ours = compute_loss(find_gaps(log_probs, torch.zeros(1000, 2)), torch.full((1000,), beta))
if "LOSS" == "simpo":
    theirs = CPOTrainer.cpo_loss(given, *log_probs.T)[0]
else:
    theirs = -ORPOTrainer.odds_ratio_loss(given, *log_probs.T)[0]
print(json.dumps([len(ours), float((ours - theirs).abs().max()), float(theirs.mean())]))
"""


@pytest.mark.sweep
@pytest.mark.parametrize("loss", ["simpo", "orpo"])
def test_losses_without_a_reference_are_those_of_trl(loss: str, tmp_path: Path) -> None:
    pytest.importorskip("trl", exc_type=ImportError)
    project = make_project(tmp_path, {"dpo.loss": loss})
    script = FUNCTIONS.replace("LOSS", loss)
    count, difference, mean = tell(project, script, real=True, timeout=900)
    assert count == 1000 and difference < 1e-6 < mean
