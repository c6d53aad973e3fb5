"""Adapters beside small pretrained models of each kind."""

from collections.abc import Callable
from pathlib import Path

from scaffold.answers.catalog import Value
from support.rendering import about
from support.training import run

Answers = dict[str, Value]
LORA: Answers = {"features.lora.enabled": True}
TEXT: Answers = {
    **LORA,
    "project.task": "text_classification",
    "text_classification.model": "pretrained",
}
MAKE_MODELS = """
import sys
import torch
from pathlib import Path
from transformers import (
    AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM,
    RobertaTokenizer,
)

texts = [path.read_text() for path in sorted(Path(torch.__file__).parent.glob("*.py"))[:9]]
tokenizer = RobertaTokenizer().train_new_from_iterator(texts, 300, show_progress=False)
torch.manual_seed(0)
special = ("pad", "bos", "eos", "sep")
ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in special}
small = {"vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 2, **ids}
small |= {"num_attention_heads": 4, "max_position_embeddings": 256}
wide, narrow = {"intermediate_size": 64}, {"intermediate_size": 64, "embedding_size": 16}
distil = {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 2}
llama = {"num_key_value_heads": 2, **wide}
t5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "decoder_start_token_id": 1}
bart = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4}
bart |= {"decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
sparse = {"attention_type": "block_sparse", "block_size": 8, "num_random_blocks": 2, **wide}
families = {
    AutoModel: {
        "distilbert": distil, "roberta": wide, "albert": narrow, "big_bird": sparse,
        "deberta-v2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], **wide},
        "electra": narrow, "esm": wide, "longformer": {"attention_window": [16, 16], **wide},
        "mpnet": wide, "xlm-roberta": wide,
        "xlnet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64},
    },
    AutoModelForMaskedLM: {
        "bert": wide, "masked-roberta": wide, "masked-distilbert": distil,
        "modernbert": {"cls_token_id": tokenizer.cls_token_id, **wide},
    },
    AutoModelForCausalLM: {"gpt2": {}, "llama": llama, "qwen3": {**llama, "head_dim": 8}},
    AutoModelForSeq2SeqLM: {"t5": t5, "bart": bart},
}
for kind, models in families.items():
    for name in filter(models.__contains__, sys.argv[1:]):
        given = {**small, **models[name]}
        if name == "xlnet":  # it has no limit
            del given["max_position_embeddings"]
        config = AutoConfig.for_model(name.removeprefix("masked-"), **given)
        kind.from_config(config).bfloat16().save_pretrained(name)  # as many models are stored
        tokenizer.save_pretrained(name)
"""
# those of TUNED
MODELS = ("distilbert", "roberta", "bert", "gpt2", "llama", "t5")
SHORT = ["--epochs", "1", "--limit-batches", "4", "--batch-size", "8"]


def make(code: str, folder: Path, *arguments: str) -> Path:
    run(folder, "-c", code, *arguments)
    return folder


def text(models: Path, name: str = "distilbert") -> Answers:
    return tuned("text_classification", models / name)


def language(models: Path, name: str = "gpt2") -> Answers:
    return tuned("language_model", models / name)


# settings with which a task trains faster
SIZES: dict[str, Answers] = {
    "dpo": {"context": 200},
    "language_model": {"context": 48},
    "question_answering": {"max_length": 128, "overlap": 32},
    "reward_model": {"context": 200},
    "seq2seq": {"max_source_length": 40, "max_target_length": 20},
    "sft": {"context": 200},
}


def tuned(task: str, model: Path) -> Answers:
    """Adapters beside this model."""
    writes = task in ("language_model", "sft", "seq2seq", "dpo", "reward_model")
    name = "model_name" if writes else "pretrained_name"
    settings = {"model": "pretrained", name: str(model), **SIZES.get(task, {})}
    return LORA | about(task, **settings)


# projects with adapters, by the folder with the models
TUNED: dict[str, Callable[[Path], Answers]] = {
    "text": text,
    "language": language,
    "tags": lambda models: tuned("token_classification", models / "distilbert"),
    "places": lambda models: tuned("question_answering", models / "distilbert"),
    "masked": lambda models: tuned("masked_language_model", models / "bert"),
    "vectors": lambda models: tuned("embeddings", models / "distilbert"),
    "choices": lambda models: tuned("multiple_choice", models / "roberta"),
    "answers": lambda models: tuned("sft", models / "llama"),
    "pairs": lambda models: tuned("seq2seq", models / "t5"),
    "preferences": lambda models: tuned("dpo", models / "llama"),
}
