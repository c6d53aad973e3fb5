"""Adapters beside small pretrained models of each kind."""

from pathlib import Path

from scaffold.answers.catalog import Value
from support.training import run_python

Answers = dict[str, Value]
LORA: Answers = {"features.lora.enabled": True}
TEXT: Answers = {
    **LORA,
    "project.task": "text_classification",
    "text_classification.model": "pretrained",
}
LANGUAGE: Answers = {
    **LORA,
    "project.task": "language_model",
    "language_model.model": "pretrained",
    "language_model.context": 48,
}
MAKE_MODELS = """
import torch
from pathlib import Path
from transformers import (
    AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM,
    RobertaTokenizer,
)

texts = [path.read_text() for path in sorted(Path(torch.__file__).parent.glob("*.py"))[:9]]
tokenizer = RobertaTokenizer().train_new_from_iterator(texts, 300, show_progress=False)
torch.manual_seed(0)
ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
small = {"vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2, **ids}
small |= {"num_attention_heads": 4, "max_position_embeddings": 256}
distil = {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 2}
t5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "decoder_start_token_id": 1}
for name, kind, settings in (
    ("distilbert", AutoModel, distil),
    ("roberta", AutoModel, {"intermediate_size": 64}),
    ("bert", AutoModelForMaskedLM, {"intermediate_size": 64}),
    ("gpt2", AutoModelForCausalLM, {}),
    ("llama", AutoModelForCausalLM, {"num_key_value_heads": 2, "intermediate_size": 64}),
    ("t5", AutoModelForSeq2SeqLM, t5),
):
    config = AutoConfig.for_model(name, **{**small, **settings})
    kind.from_config(config).bfloat16().save_pretrained(name)  # as many models are stored
    tokenizer.save_pretrained(name)
"""
SHORT = ["--epochs", "1", "--limit-batches", "4", "--batch-size", "8"]


def make(code: str, folder: Path) -> Path:
    result = run_python(folder, ["-c", code])
    assert result.returncode == 0, result.stderr
    return folder


def text(models: Path, name: str = "distilbert") -> Answers:
    return {**TEXT, "text_classification.pretrained_name": str(models / name)}


def language(models: Path, name: str = "gpt2") -> Answers:
    return {**LANGUAGE, "language_model.model_name": str(models / name)}


def tags(models: Path) -> Answers:
    task = "token_classification"
    model = {f"{task}.model": "pretrained", f"{task}.pretrained_name": str(models / "distilbert")}
    return {**LORA, "project.task": task, **model}


def places(models: Path) -> Answers:
    task = "question_answering"
    model = {f"{task}.model": "pretrained", f"{task}.pretrained_name": str(models / "distilbert")}
    sizes = {f"{task}.max_length": 128, f"{task}.overlap": 32}
    return {**LORA, "project.task": task, **model, **sizes}


def answers(models: Path) -> Answers:
    model = {"sft.model": "pretrained", "sft.model_name": str(models / "llama"), "sft.context": 200}
    return {**LORA, "project.task": "sft", **model}


def pairs(models: Path, name: str = "t5") -> Answers:
    model = {"model": "pretrained", "model_name": str(models / name), "max_target_length": 20}
    model |= {"max_source_length": 40}
    return {**LORA, "project.task": "seq2seq", **{f"seq2seq.{k}": v for k, v in model.items()}}


def preferences(models: Path) -> Answers:
    model = {"dpo.model": "pretrained", "dpo.model_name": str(models / "llama"), "dpo.context": 200}
    return {**LORA, "project.task": "dpo", **model}
