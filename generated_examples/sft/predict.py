"""Predicts with the weights of a run: `python predict.py "add 3 to 125"`."""

import argparse
import json
import sys
from os.path import isfile
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import broadcast_object_list, gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import (
    Conversation,
    Messages,
    add_system,
    encode_prompt,
    find_ends,
    holds_objects,
    read_extras,
    read_messages,
    read_objects,
    read_turns,
)
from generation import generate
from model import build_model, build_tokenizer


def load(folder=None, device=None) -> tuple[Config, torch.nn.Module]:
    """The settings of a run, by default the newest, and its trained model in evaluation mode."""
    check_environment(Accelerator())
    config = load_config(Path(folder or newest_run()))
    model = build_model(config)
    weights = config.output_dir / "model.safetensors"
    try:
        load_model(model, weights)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise SystemExit(f"{weights} can't be loaded: {error}") from error
    return config, model.to(device or PartialState().device).eval()


def read_inputs(config: Config, names: list[str]) -> list[str]:
    """Texts as they are, the lines of .txt files, or those of standard input if the name is -."""
    texts = []
    for name in names:
        try:
            if name == "-":  # which only one process can read
                lines = sys.stdin.read() if PartialState().is_main_process else ""
                texts += split_lines(broadcast_object_list([lines])[0])
            elif name.endswith(".txt"):
                texts += split_lines(Path(name).read_text(encoding="utf-8"))
            elif holds_objects(name):  # rows with `messages` or a `prompt`
                texts += [read_prompt(row, place) for place, row in read_objects(name)]
            elif isfile(name):
                raise SystemExit(f"{name} is not read: name a .txt file with a text in each line.")
            else:
                texts.append(name)
        except (OSError, ValueError) as error:
            raise SystemExit(f"{name} can't be read: {error}") from error
    return texts


def split_lines(text: str) -> list[str]:
    """The lines of a text. str.splitlines() would also split at other characters."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")  # from Windows, through a pipe
    return text.removesuffix("\n").split("\n") if text else []


def read_prompt(row: dict, place: str) -> str | Messages | Conversation:
    """The `prompt` of a row, or its messages without an answer at their end."""
    settings, prompt = read_extras(row, place), row.get("prompt")
    if isinstance(prompt, str) and not settings and not row.get("system"):
        return prompt
    if prompt and "messages" not in row:
        messages = add_system(read_turns([prompt], place), row, place)
    else:
        messages = read_messages(row, place)
        if len(messages) > 1 and messages[-1]["role"] == "assistant":
            messages = messages[:-1]
    return Conversation(messages, place, settings) if settings else messages


def find_messages(prompt: str | Messages | Conversation) -> Messages:
    prompt = prompt.messages if isinstance(prompt, Conversation) else prompt
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt


def write_prompt(config: Config, prompt: str | Messages | Conversation) -> list[int]:
    """The tokens of a question, or of the messages of a conversation, before the answer."""
    messages = find_messages(prompt)
    settings = prompt.settings if isinstance(prompt, Conversation) else {}
    try:
        tokens = encode_prompt(messages, config, settings)
    except ValueError as error:
        raise SystemExit(f"{messages[-1]['content']}: {error}") from error
    if len(tokens) >= config.context:
        raise SystemExit(
            f"A prompt has {len(tokens)} tokens, and --context was {config.context} in training: "
            "shorten it, or train with a larger --context."
        )
    return tokens


def predict(config: Config, model: torch.nn.Module, inputs, length: int) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    tokenizer = build_tokenizer(config)
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for chats in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            prompts = [write_prompt(config, chat) for chat in chats]
            answers = generate(model, prompts, find_ends(config), config.context, length, device)
            for chat, answer in zip(chats, answers, strict=True):
                asked = find_messages(chat)[-1]["content"]
                rows.append({"prompt": asked, "text": tokenizer.decode(answer)})
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "inputs", nargs="+", metavar="TEXT", help="a text, a .txt file of lines, or -"
    )
    parser.add_argument("--length", type=int, default=200, help="maximum tokens of an answer")
    parser.add_argument("--json", action="store_true", help="print JSON lines, with the inputs")
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs, arguments.length)
    if PartialState().is_main_process:
        if arguments.json:
            print(*map(json.dumps, rows), sep="\n")
        else:
            print(*(row["text"] for row in rows), sep="\n")
    PartialState().destroy_process_group()
