"""Instruction tuning on a user's files, and with pretrained models and their chat templates."""

import json
from functools import partial
from pathlib import Path

import pytest

from scaffold.answers.catalog import Value
from support.chat_models import make_chat_project
from support.in_order import OFF, ten_losses
from support.rendering import write_project
from support.training import (
    ask,
    assert_evaluated,
    count_passed,
    evaluate,
    fail,
    run,
    run_tests,
    said,
)

pytestmark = pytest.mark.train

make_project = partial(make_chat_project, "sft")

BRIEF = ["--epochs", "1", "--max-steps", "4", "--batch-size", "8"]
SMALL: dict[str, Value] = {"sft.width": 16, "sft.layers": 1, "sft.heads": 2}
PRETRAINED: dict[str, Value] = {"sft.model": "pretrained", "sft.context": 128}
# what the tokenizers write for two turns, with [[ and ]] around what counts
TURNS = {
    "none": "<s><|user|>\na</s>\n<|assistant|>\n[[b</s>]]\n"
    "<|user|>\nc</s>\n<|assistant|>\n[[d</s>]]",
    "chatml": "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n[[b<|im_end|>]]\n"
    "<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n[[d<|im_end|>]]",
    "marked": "<s><|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n[[b<|im_end|>]]\n"
    "<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n[[d<|im_end|>]]",
    "thinks": "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n[[b<|im_end|>]]\n"
    "<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n[[<think>\n\n</think>\n\nd<|im_end|>]]",
}
# conversations that not all templates write, and where the answers of these begin and end
ODD = {
    "an answer first": [("assistant", "a"), ("user", "b"), ("assistant", "c")],
    "an empty answer": [("user", "a"), ("assistant", ""), ("user", "b"), ("assistant", " ")],
    "two answers": [("user", "a"), ("assistant", "b"), ("assistant", "c")],
    "no answer last": [("user", "a"), ("assistant", "b"), ("user", "c")],
    "what ends an answer": [("user", "a"), ("assistant", ">"), ("user", "b"), ("assistant", "|>")],
    "white space": [("user", " a "), ("assistant", " b \n"), ("user", ""), ("assistant", "\nc d ")],
    "a system message": [("system", "a"), ("user", "b"), ("assistant", "c")],
}
# what counts in these chats, in the template of each of these models
SHOW = """
from dataclasses import replace
texts, facts = {}, {}
for name in models:
    chosen = replace(config, model_name=name)
    for kind, chat in chats.items():
        messages = [{"role": role, "content": text} for role, text in chat]
        try:
            [sample] = data.Conversations([data.Conversation(messages, "here")], chosen)
            texts[f"{name}: {kind}"] = data.show(sample, chosen)
        except SystemExit as stop:
            texts[f"{name}: {kind}"] = str(stop)
"""
FACTS = """
    tokenizer = model.build_tokenizer(chosen)
    facts[name] = {
        "prompt": tokenizer.show(data.encode_prompt(messages[:1], chosen)),
        "ends": tokenizer.tokenizer.convert_ids_to_tokens(sorted(data.find_ends(chosen))),
        "types": sorted({str(weight.dtype) for weight in model.build_model(chosen).parameters()}),
    }
"""


def write_chats(path: Path, count: int) -> list[str]:
    """Lines of all forms, one of them with a system message and two turns."""
    lines = [json.dumps({"prompt": f"up {n:x}", "completion": f"{n:X}"}) for n in range(count - 2)]
    asked, said = ([{"role": r, "content": "Ä"}] for r in ("user", "assistant"))
    lines.append(json.dumps({"prompt": asked, "completion": said}))
    turns = [("system", "Be brief."), ("user", "up a"), ("assistant", "A"), ("user", "up b")]
    messages = [{"role": role, "content": text} for role, text in [*turns, ("assistant", "B")]]
    lines.append(json.dumps({"messages": messages}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lines


WRONG = {
    "none": {"messages": [{"role": "user", "content": "a"}]},
    "role": {"messages": [{"role": "bot", "content": "a"}]},
}


def test_a_users_file_trains_and_a_wrong_line_is_named(tmp_path: Path) -> None:
    """Nothing is trained then. What predict.py reads has the same form."""
    project = make_project(tmp_path, {"sft.dataset": "jsonl", **SMALL})
    lines = write_chats(project / "chats.jsonl", 12)
    trained = run(project, "train.py", *BRIEF, "--batch-size", "4")
    assert "\n> <user>up " in trained and "<assistant>[[" in trained
    for name, messages in WRONG.items():
        (project / f"{name}.jsonl").write_text("\n".join([*lines, json.dumps(messages)]) + "\n")
    wrong = [["--path", f"{name}.jsonl"] for name in WRONG]
    none, role, cut = said(project, "train.py", *wrong, ["--context", "2", "--output-dir", "new"])
    assert none == "none.jsonl, line 13 has no assistant message."
    assert role == "role.jsonl, line 13: the role bot is not one of system, user, assistant."
    assert "the answer begins after --context 2, as in all 1" in cut
    (project / "prompts.jsonl").write_text(lines[0] + "\n" + lines[-1] + "\n")
    asked = run(project, "predict.py", "prompts.jsonl", "hello", "--length", "3")
    assert len(asked.split("\n")) == 3 + 1


def test_what_counts_in_each_kind_of_chat_template(tmp_path: Path) -> None:
    """The answers and what ends them, in both turns; what the template writes is written once."""
    models = [f"llama_{name}" for name in TURNS]
    chats = {"turns": [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]}
    script = f"models, chats = {models}, {chats}{SHOW}{FACTS}"
    texts, found = ask(make_project(tmp_path, PRETRAINED, *models), script, "[texts, facts]")
    for name, text in TURNS.items():
        facts = found[f"llama_{name}"]
        assert texts[f"llama_{name}: turns"] == text
        assert facts["prompt"] == text.partition("[[")[0].partition("<think>")[0]
        assert facts["types"] == ["torch.float32"], "steps would be rounded away"
        ends = ["</s>"] if name == "none" else ["</s>", "<|im_end|>"]
        assert facts["ends"] == ends


def test_what_counts_in_odd_conversations(tmp_path: Path) -> None:
    """In a template that trims answers, in one that doesn't, and in one that refuses some."""
    models = [f"llama_{name}" for name in ("chatml", "raw", "strict")]
    script = f"models, chats = {models}, {ODD}{SHOW}"
    found = ask(make_project(tmp_path, PRETRAINED, *models), script, "texts")
    for kind, chat in ODD.items():
        for model in models:
            texts = []
            for role, text in chat:
                written = text if "raw" in model or role != "assistant" else text.strip()
                part = f"{written}<|im_end|>"
                counted = f"[[{part}]]" if role == "assistant" else part
                texts.append(f"<|im_start|>{role}\n{counted}")
            refused = "strict" in model and chat[0][0] != "user"
            said = "here: the chat template refuses it: User first."
            assert found[f"{model}: {kind}"] == (said if refused else "\n".join(texts))


def test_a_template_that_changes_answers_is_refused(tmp_path: Path) -> None:
    project = make_project(tmp_path, PRETRAINED, "llama_upper")
    trained = fail(project, "train.py", *BRIEF, "--model-name", "llama_upper")
    assert "the chat template writes message 2 in several ways" in trained


@pytest.mark.sweep
@pytest.mark.parametrize("packing", ["none", "best_fit"])
@pytest.mark.parametrize("model", ["llama_none", "llama_chatml", "gpt2_none", "qwen3_thinks"])
def test_a_pretrained_model_passes_the_tests_of_its_project(
    model: str, packing: str, tmp_path: Path
) -> None:
    given = {**PRETRAINED, "sft.packing": packing, "sft.model_name": model}
    assert count_passed(run_tests(make_project(tmp_path, given, model))) >= 38


@pytest.mark.sweep
def test_a_model_that_mixes_packed_texts_is_refused(tmp_path: Path) -> None:
    """One with a state, which goes from one text to the next, and not one with a window."""
    given = {**PRETRAINED, "sft.packing": "best_fit"}
    models = ["mistral_chatml", "mamba_chatml"]
    project = make_project(tmp_path, given, *models)
    window, state = (["train.py", *BRIEF, "--model-name", name] for name in models)
    assert "1293 conversations are packed into" in run(project, *window)
    assert "--model-name mamba_chatml mixes the texts of a row" in fail(project, *state)


@pytest.mark.sweep
@pytest.mark.parametrize("model", ["gpt", "pretrained"])
def test_metrics_are_those_of_generated_answers_on_any_processes(
    model: str, tmp_path: Path
) -> None:
    """On 1, 2 and 3 processes; the share of exact answers is that of what predict.py writes."""
    given: dict[str, Value] = {"features.evaluate.enabled": True, "sft.dataset": "jsonl"}
    if model == "pretrained":
        given |= {**PRETRAINED, "sft.model_name": "llama_chatml"}
    project = make_project(tmp_path, given, *["llama_chatml"] * (model == "pretrained"))
    rows = [{"prompt": f"{n % 5} {n % 3}", "completion": f"{n % 5 + n % 3}"} for n in range(230)]
    (project / "chats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ["--epochs", "12", "--batch-size", "16", "--learning-rate", "0.003"]
    run(project, "train.py", *flags, "--test-path", "chats.jsonl")
    found = evaluate(project)
    assert_evaluated(project, found, rel=1e-6)
    asked = run(project, "predict.py", "chats.jsonl", "--json")
    answers = [json.loads(row)["text"] for row in asked.splitlines()]
    right = sum(row["completion"] == text for row, text in zip(rows, answers, strict=True))
    assert 0.05 < found["test_exact_match"] < 1 or model == "gpt"
    assert right / len(rows) == pytest.approx(found["test_exact_match"])


@pytest.mark.sweep
@pytest.mark.parametrize("task", ["sft", "dpo", "language_model"])
def test_samples_are_the_same_on_any_processes(task: str, tmp_path: Path) -> None:
    """After steps that are too small to be seen. Each evaluation writes one file."""
    project = write_project(tmp_path, task, width=16, layers=1, heads=2)
    found = []
    for processes in (1, 2, 3):
        flags = ["--epochs", "2", "--limit-batches", "2", "--learning-rate", "1e-9"]
        run(project, "train.py", *flags, "--output-dir", f"runs/{processes}", processes=processes)
        paths = sorted((project / f"runs/{processes}").glob("sample_*.txt"))
        found.append({path.name: path.read_text(encoding="utf-8") for path in paths})
    assert len(found[0]) == 2 and all(len(text) > 20 for text in found[0].values())
    assert found[0] == found[1] == found[2]


TRL = """
from data import Conversation, Conversations, write_conversations
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

NAME = "llama_marked"
chats = [conversation.messages for conversation in write_conversations()[:80]]

def list_samples(config):
    return Conversations([Conversation(messages, "") for messages in chats], config)

ours = train_in_order(list_samples, **WINDOW, learning_rate=0.01, model_name=NAME)
InOrder, losses = in_order(SFTTrainer)
more = {"learning_rate": 0.01, "assistant_only_loss": True, "loss_type": "nll"}
InOrder(
    model=AutoModelForCausalLM.from_pretrained(NAME, dtype=torch.float32),
    args=SFTConfig(**ARGUMENTS_OF_TRL, **more),
    train_dataset=Dataset.from_list([{"messages": messages} for messages in chats]),
    processing_class=AutoTokenizer.from_pretrained(NAME),
).train()
theirs = sums_of_two(losses)
"""


@pytest.mark.sweep
def test_losses_are_those_of_trl(tmp_path: Path) -> None:
    """From the same weights, with the same batches and optimizer, in windows of two batches."""
    pytest.importorskip("trl", exc_type=ImportError)
    given = {**PRETRAINED, **OFF, "training.gradient_accumulation_steps": 2}
    ours = ten_losses(make_project(tmp_path, given, "llama_marked"), TRL)
    assert ours[-1] < ours[0] - 0.5


@pytest.mark.sweep
def test_embeddings_have_noise_while_a_model_is_tuned(tmp_path: Path) -> None:
    given = {**PRETRAINED, "sft.model_name": "llama_chatml", "features.neftune.enabled": True}
    project = make_project(tmp_path, given, "llama_chatml")
    assert count_passed(run_tests(project, "tests/test_features.py", "-k", "noise")) == 1
