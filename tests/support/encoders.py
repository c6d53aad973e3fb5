"""Small BERT, RoBERTa and DistilBERT with new weights, beside a project whose task tunes one."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scaffold.answers.catalog import Value
from support.rendering import write_project
from support.training import ask, call, run, said, succeed

ENCODERS = ["roberta", "bert", "distilbert"]
SHORT = ["--epochs", "1", "--limit-batches", "4", "--batch-size", "4"]
# the tokenizers are trained on the spot; BERT is stored in 16 bits, and has no dropout
MAKE = """
import torch, transformers
from transformers import AutoConfig, BertTokenizer, RobertaTokenizer

small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
small |= {"num_attention_heads": 2, "max_position_embeddings": 66, **more}
distil = {"dim": 32, "hidden_dim": 64, "n_layers": 1, "n_heads": 2, "max_position_embeddings": 66}
still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
for name, settings in {
    "bert": {**small, **still},
    "roberta": {**small, "type_vocab_size": 1},  # as the published ones have
    "distilbert": distil,
}.items():
    kind = RobertaTokenizer if name == "roberta" else BertTokenizer
    tokenizer = kind().train_new_from_iterator(texts, 300, show_progress=False)
    tokenizer.save_pretrained(name)
    ids = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    head = heads.get(name, heads.get("all", "AutoModel"))
    network = getattr(transformers, head).from_config(AutoConfig.for_model(name, **settings, **ids))
    (network.to(torch.bfloat16) if name == "bert" else network).save_pretrained(name)
"""
# whether a model takes texts of so many tokens, and of one more
LIMIT = """
import torch
network, works = model.build_model(config).eval(), []
for length in (limit, limit + 1):
    tokens = torch.full((1, length), 5)
    given = (tokens, tokens > 0, tokens * 0)[:inputs]
    try:
        works.append(bool(network(*given).isfinite().all()))
    except (IndexError, RuntimeError):
        works.append(False)
"""
# the Trainer of Transformers with these batches, for ten steps; `ends` are the weights of both
BY_TRANSFORMERS = """
class Trainer(transformers.Trainer):
    def get_train_dataloader(self):
        return DataLoader(batches, batch_size=None)

    def training_step(self, *given, **named):
        theirs.append(float(loss := super().training_step(*given, **named)))
        return loss

arguments = transformers.TrainingArguments(
    "other", max_steps=10, learning_rate=1e-3, lr_scheduler_type="constant",
    weight_decay=0.0, max_grad_norm=1.0, report_to=[], save_strategy="no", use_cpu=True,
    disable_tqdm=True,
)
Trainer(other, arguments).train()
ends = [network.state_dict() for network in (begin.model, other)]
"""
# ten steps of a project. `note` stands for the function of data.py that makes a batch, and keeps it
# in `seen`
OURS = """
import torch, transformers
from torch.utils.data import DataLoader

seen = []
{note}
torch.manual_seed(0)
build = model.build_model
begin = build(config)
torch.save(begin.model.state_dict(), "begin.pt")
train.build_model, data.{collate} = lambda config: begin, note
train.main(train.Config(max_steps=10, epochs=1, log_every=1, batch_size=8, learning_rate=1e-3))
lines = [json.loads(line) for line in open(next(pathlib.Path("runs").glob("*/metrics.jsonl")))]
ours = [line["loss"] for line in lines if "loss" in line]
"""
# the same batches by the Trainer of Transformers, from equal weights
STEPS = (
    OURS
    + """
other = build(config).model
other.load_state_dict(torch.load("begin.pt"))
batches, theirs = seen[:10], []
"""
    + BY_TRANSFORMERS
    + """
# what shifts all scores of a softmax alike has a gradient of rounding, of which Adam makes steps
names = [name for name in ends[0] if not name.endswith({shifts})]
worst = max(float((ends[0][name] - ends[1][name]).abs().max()) for name in names)
"""
)


# steps like those of the Trainer
PLAIN: dict[str, Value] = {"features.schedule.enabled": False, "training.weight_decay": 0.0}
PLAIN["training.optimizer"] = "adamw"


def pretrained(name: str, **more: Value) -> dict[str, Value]:
    """Settings of a task for one of the models."""
    return {"model": "pretrained", "pretrained_name": name, "max_length": 64, **more}


def make_encoders(folder: Path, texts: str, more: object = {}, **heads: str) -> None:
    """The models, with tokenizers for these texts, which are Python that has a project's modules.

    They have settings beyond their size, and layers for a task: of Transformers' classes.
    """
    succeed(call(folder, f"texts, more, heads = {texts}, {more}, {heads}\n{MAKE}"))


def assert_is_tuned(folder: Path, inputs: int = 2) -> None:
    """On two processes, in 32 bits. What it can't take is said, and no less."""
    assert ask(folder, "", "str(model.build_model(config).model.dtype)") == "torch.float32"
    run(folder, "train.py", *SHORT, processes=2)
    calls = [["--max-length", "200"], ["--pretrained-name", "nobody/nothing"]]
    length, name = said(folder, "train.py", *calls)
    found = re.search(r"takes at most (6\d) tokens: lower --max-length\.", length)
    assert found, length
    if inputs:
        code = f"limit, inputs = {found[1]}, {inputs}\n{LIMIT}"
        assert ask(folder, code, "works") == [True, False]
    assert "'nobody/nothing' can't be loaded" in name


def assert_ten_steps(
    folder: Path,
    note: str,
    collate: str = "collate",
    shifts: Sequence[str] = (),
    more: str = "more = []",
) -> Any:
    """That they are those of the Trainer. Returns what else is asked for."""
    code = STEPS.format(note=note, collate=collate, shifts=(*shifts, " "))
    ours, theirs, worst, *others = ask(folder, code + more, "[ours, theirs, worst, *more]")
    assert len(ours) == len(theirs) == 10
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert worst < 1e-5
    return others


def project_of_steps(folder: Path, task: str, **more: Value) -> Path:
    """A project with BERT, whose steps are as plain as those of the Trainer."""
    return write_project(folder, task, **pretrained("bert", **more), **PLAIN)
