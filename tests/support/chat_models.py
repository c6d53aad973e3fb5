"""Small language models with tokenizers and chat templates, made by a script."""

import json
from collections.abc import Mapping
from pathlib import Path

from scaffold.answers.catalog import Value
from support.rendering import write_project
from support.training import run

# trains a tokenizer of bytes
TRAIN_TOKENS = """
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

def train_tokens(text, special=(), size=300):
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer, tokens.decoder = byte_level, decoders.ByteLevel()
    names = {"special_tokens": list(special), "initial_alphabet": byte_level.alphabet()}
    tokens.train_from_iterator([text] * 9, trainers.BpeTrainer(vocab_size=size, **names))
    return tokens
"""
# small models of the real classes, stored in 16 bits
MAKE_MODELS = TRAIN_TOKENS + '''
import sys
import torch
from transformers import AutoConfig, AutoModelForCausalLM

def write(start, answer):
    """A template: what comes first, and how an answer is written."""
    return (
        start + "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}"
        "{% if m.role == 'assistant' %}" + answer + "{% else %}{{ m.content + '<|im_end|>' }}"
        "{% endif %}{{ '\\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
    )

ANSWER = "{{ m.content | trim + '<|im_end|>' }}"
THINKS = "{% if loop.last %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}" + ANSWER
TEMPLATES = {
    "none": None,
    "chatml": write("", ANSWER),
    "marked": write("{{ bos_token }}", "{% generation %}" + ANSWER + "{% endgeneration %}"),
    "thinks": write("", THINKS),  # as that of Qwen3, in the last turn alone
    "upper": write("", "{{ m.content | upper + '<|im_end|>' }}"),
    "raw": write("", "{{ m.content + '<|im_end|>' }}"),  # with white space, as that of Qwen2.5
    "strict": "{% if messages[0].role != 'user' %}{{ raise_exception('User first.') }}{% endif %}"
    + write("", ANSWER),
}
special = ["<s>", "</s>", "<|im_start|>", "<|im_end|>"]
tokens = train_tokens("reverse sort add to user assistant", special)
# it puts <s> before each text, as many do: a template that writes it, too, must not get two
tokens.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
small = {"vocab_size": 300, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
small |= {"max_position_embeddings": 128, "bos_token_id": 0, "eos_token_id": 1}
llama = {"num_key_value_heads": 1, "intermediate_size": 64}
more = {"llama": llama, "qwen3": {**llama, "head_dim": 16}, "gpt2": {}}
more["mistral"] = {**llama, "sliding_window": 8}
more["mamba"] = {"state_size": 4}
for folder in sys.argv[1:]:
    kind, template = folder.split("_")
    torch.manual_seed(0)
    settings = {**small, **more[kind]}
    if kind == "mamba":  # which has no limit
        del settings["max_position_embeddings"]
    config = AutoConfig.for_model(kind, **settings)
    AutoModelForCausalLM.from_config(config).bfloat16().save_pretrained(folder)
    names = {"bos_token": "<s>", "eos_token": "</s>", "extra_special_tokens": special[2:]}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, **names)
    tokenizer.chat_template = TEMPLATES[template]
    tokenizer.save_pretrained(folder)
'''


def make_chat_project(task: str, folder: Path, given: Mapping[str, Value], *models: str) -> Path:
    """A project, with these models in it."""
    write_project(folder, task, **given)
    if models:
        run(folder, "-c", MAKE_MODELS, *models)
    return folder


def write_pairs(path: Path, count: int) -> list[str]:
    """Lines of all forms: texts, messages, and whole conversations with two turns."""
    rows: list[dict[str, object]] = [
        {"prompt": f"up {n:x}", "chosen": f"{n:X}", "rejected": f"{n:x}!"} for n in range(count - 2)
    ]
    turns = [("system", "Be brief."), ("user", "up a"), ("assistant", "A"), ("user", "up b")]
    prompt = [{"role": role, "content": text} for role, text in turns]
    right, wrong = ({"role": "assistant", "content": text} for text in "Bb")
    rows.append({"prompt": prompt, "chosen": [right], "rejected": [wrong]})
    rows.append({"chosen": [*prompt, right], "rejected": [*prompt, wrong]})
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lines
