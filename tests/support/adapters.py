"""Adapters beside small pretrained models of each kind."""

from collections.abc import Callable
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
    return tuned("text_classification", models / name)


def language(models: Path, name: str = "gpt2") -> Answers:
    return tuned("language_model", models / name, context=48)


def tuned(task: str, model: Path, **settings: Value) -> Answers:
    """Adapters beside this model, and settings of the task."""
    writes = task in ("language_model", "sft", "seq2seq", "dpo", "reward_model")
    name = "model_name" if writes else "pretrained_name"
    settings |= {"model": "pretrained", name: str(model)}
    return {**LORA, "project.task": task, **{f"{task}.{k}": v for k, v in settings.items()}}


# projects with adapters, by the folder with the models
TUNED: dict[str, Callable[[Path], Answers]] = {
    "text": text,
    "language": language,
    "tags": lambda models: tuned("token_classification", models / "distilbert"),
    "places": lambda models: tuned(
        "question_answering", models / "distilbert", max_length=128, overlap=32
    ),
    "masked": lambda models: tuned("masked_language_model", models / "bert"),
    "vectors": lambda models: tuned("embeddings", models / "distilbert"),
    "choices": lambda models: tuned("multiple_choice", models / "roberta"),
    "answers": lambda models: tuned("sft", models / "llama", context=200),
    "pairs": lambda models: tuned(
        "seq2seq", models / "t5", max_source_length=40, max_target_length=20
    ),
    "preferences": lambda models: tuned("dpo", models / "llama", context=200),
}
