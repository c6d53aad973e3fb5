"""Sequence to sequence with pretrained models, datasets of the Hub and metrics of texts."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.chat_models import TRAIN_TOKENS
from support.in_order import OFF, ten_losses
from support.rendering import of_task, write_project
from support.split import assert_split_trains_alike
from support.training import (
    ask,
    assert_evaluated,
    count_passed,
    run,
    run_tests,
    start,
    succeed,
    tell,
)

pytestmark = pytest.mark.train

BRIEF = ["--epochs", "1", "--limit-batches", "4", "--batch-size", "8"]
PRETRAINED = of_task("seq2seq", model="pretrained", max_source_length=40, max_target_length=20)
# small models of the real classes, stored in 16 bits
MAKE_MODELS = TRAIN_TOKENS + """
import sys
import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM

small = {"vocab_size": 300, "d_model": 32, "pad_token_id": 0, "eos_token_id": 1}
small |= {"use_cache": False}  # as a model has that was saved during a training
two = {f"{part}_{name}": size for part in ("encoder", "decoder")
       for name, size in {"layers": 1, "attention_heads": 2, "ffn_dim": 64}.items()}
two |= {"max_position_embeddings": 64, "bos_token_id": 2, "forced_eos_token_id": 1}
t5 = {"d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2, "decoder_start_token_id": 0}
more = {"t5": t5, "mt5": t5, "bart": {**two, "decoder_start_token_id": 1}}
more["marian"] = {**two, "decoder_start_token_id": 0, "decoder_vocab_size": 300}
more["pegasus"] = {**two, "decoder_start_token_id": 0}
more["mbart"] = two  # it has no token that starts a target
for kind in sys.argv[1:]:
    torch.manual_seed(0)
    config = AutoConfig.for_model(kind, **small, **more[kind])
    AutoModelForSeq2SeqLM.from_config(config).bfloat16().save_pretrained(kind)
    tokens = train_tokens("March April 1998-03-14", ["<pad>", "</s>", "<s>"])
    tokens.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>" if kind == "bart" else "$A </s>",
        special_tokens=[("<s>", 2), ("</s>", 1)],
    )
    names = {"pad_token": "<pad>", "eos_token": "</s>", "bos_token": "<s>"}
    PreTrainedTokenizerFast(tokenizer_object=tokens, **names).save_pretrained(kind)
"""


def make_project(folder: Path, given: Mapping[str, Value], *models: str) -> Path:
    """A project, with these models in it. It uses the first one."""
    first = {"seq2seq.model_name": models[0]} if models else {}
    write_project(folder, "seq2seq", **{**PRETRAINED, **first, **given})
    run(folder, "-c", MAKE_MODELS, *models)
    return folder


def test_the_first_line_of_a_table_names_its_columns(tmp_path: Path) -> None:
    """In any order: a target is never learned as a source. Other marks end no line."""
    project = write_project(tmp_path, "seq2seq", dataset="csv")
    (project / "0.csv").write_text("source,target\n" + 3 * "a\u2028c,b\n", encoding="utf-8")
    (project / "1.csv").write_text("target,source\n" + 3 * "b,a\u2028c\n", encoding="utf-8")
    read = ask(project, "", "[data.read_pairs(f'{number}.csv', config) for number in range(2)]")
    assert read == [[["a\u2028c", "b"]] * 3] * 2


def test_a_pretrained_model_trains_predicts_and_is_exported(tmp_path: Path) -> None:
    """Its weights are in 32 bits, and what is exported is loaded by transformers."""
    given = {"features.export.enabled": True, "seq2seq.source_prefix": "write: "}
    project = make_project(tmp_path, given, "t5", "mbart")
    trained = succeed(start(project, ["train.py", *BRIEF, "--max-source-length", "20"]))
    assert " of 8000 texts are cut to 20 tokens" in trained.stderr
    refused = start(project, ["train.py", *BRIEF, "--model-name", "mbart"])
    assert "mbart has no token that starts or pads a target" in refused.stderr
    texts = ["1.2.1998", "", "1.2.1998 " * 30]
    asked = start(project, ["predict.py", *texts, "--length", "5", "--json"])
    assert asked.returncode == 0 and "1 of 3 texts are cut" in asked.stderr, asked.stderr
    assert [json.loads(row)["source"] for row in asked.stdout.splitlines()] == texts
    run(project, "export.py", "--format", "transformers", "--output", "out")
    code = "from transformers import AutoModelForSeq2SeqLM as M; model = M.from_pretrained('out')"
    code += "\ntypes = [*{str(weight.dtype) for weight in model.parameters()}]"
    settings = "[types, model.config.use_cache, model.generation_config.use_cache]"
    assert ask(project, code, settings) == [["torch.float32"], True, True]


@pytest.mark.sweep
@pytest.mark.parametrize("metric", ["none", "rouge", "bleu"])
@pytest.mark.parametrize("model", ["t5", "mt5", "bart", "marian", "pegasus"])
def test_a_pretrained_model_passes_the_tests_of_its_project(
    model: str, metric: str, tmp_path: Path
) -> None:
    project = make_project(tmp_path, {"seq2seq.text_metric": metric}, model)
    assert count_passed(run_tests(project)) >= 30


EXACT = """
import csv, json, sys
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import BLEU
kind, texts = sys.argv[1], [json.loads(line)["text"] for line in open("written.jsonl")]
targets = [row["target"] for row in csv.DictReader(open("pairs.csv"))]
if kind == "bleu":
    print(json.dumps({"test_bleu": BLEU().corpus_score(texts, [targets]).score}))
else:
    names = ["rouge1", "rouge2", "rougeL"]
    scorer = RougeScorer(names, use_stemmer=True)
    rows = [scorer.score(*pair) for pair in zip(targets, texts, strict=True)]
    mean = lambda name: sum(row[name].fmeasure for row in rows) / len(rows)
    print(json.dumps({f"test_{name}": mean(name) for name in names}))
"""


@pytest.mark.sweep
@pytest.mark.parametrize("metric", ["rouge", "bleu"])
def test_metrics_are_those_of_the_libraries_on_any_processes(metric: str, tmp_path: Path) -> None:
    """On 1, 2 and 3 processes, of all texts that predict.py writes."""
    given: dict[str, Value] = {"features.evaluate.enabled": True, "seq2seq.dataset": "csv"}
    given |= {"seq2seq.text_metric": metric, "seq2seq.max_target_length": 64}
    project = make_project(tmp_path, given, "t5")
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    pairs = [[f"{n % 7} {n % 9}", " ".join(words[n % 7 : n % 7 + n % 9])] for n in range(109)]
    text = "".join(f"{source},{target or 'none'}\n" for source, target in pairs)
    (project / "pairs.csv").write_text(f"source,target\n{text}")
    flags = ["--epochs", "30", "--batch-size", "16", "--learning-rate", "0.01"]
    run(project, "train.py", *flags, "--test-path", "pairs.csv")
    sources = [source for source, _ in pairs]
    asked = run(project, "predict.py", *sources, "--json", "--length", "64")
    (project / "written.jsonl").write_text(asked)
    expected = tell(project, EXACT, metric)
    assert all(0 < value < 100 for value in expected.values())
    assert_evaluated(project, expected, rel=1e-5)


TRAINER = """
from data import Pairs, load_pairs
from model import build_tokenizer
from transformers import AutoModelForSeq2SeqLM, DataCollatorForSeq2Seq, Trainer, TrainingArguments

def list_samples(config):
    return Pairs(load_pairs(config)[0][:80], build_tokenizer(config))

ours = train_in_order(list_samples, batch_size=8, learning_rate=0.01)
InOrder, theirs = in_order(Trainer)
model = AutoModelForSeq2SeqLM.from_pretrained("t5", dtype=torch.float32)
samples = list_samples(train.Config())
features = [{"input_ids": s.tolist(), "labels": t.tolist()} for s, _, t in samples]
arguments = TrainingArguments(
    **ARGUMENTS, per_device_train_batch_size=8, learning_rate=0.01, optim="adamw_torch"
)
collator = DataCollatorForSeq2Seq(build_tokenizer(train.Config()).tokenizer, model)
InOrder(model, arguments, train_dataset=features, data_collator=collator).train()
"""


@pytest.mark.sweep
def test_losses_are_those_of_transformers(tmp_path: Path) -> None:
    """From the same weights, with the same batches and optimizer; its models have dropout off."""
    project = make_project(tmp_path, OFF, "t5")
    config = json.loads((project / "t5/config.json").read_text())
    (project / "t5/config.json").write_text(json.dumps({**config, "dropout_rate": 0.0}))
    ours = ten_losses(project, TRAINER)
    assert ours[-1] < ours[0] - 0.5


@pytest.mark.sweep
def test_a_split_model_writes_texts_of_any_length(tmp_path: Path) -> None:
    """With FSDP 2, on two processes, whose texts end at different lengths."""
    given: dict[str, Value] = {"hardware.sharding": "fsdp", "hardware.num_processes": 2}
    project = make_project(tmp_path, {**given, "seq2seq.text_metric": "bleu"}, "t5")
    flags = ["--epochs", "1", "--limit-batches", "60", "--batch-size", "4"]
    found = assert_split_trains_alike(project, *flags, "--learning-rate", "0.01")
    assert found["test_bleu"] > 0
