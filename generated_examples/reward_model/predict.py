"""Predicts with the weights of a run: `python predict.py conversations.jsonl`."""

import argparse
import csv
import sys
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import (
    Conversation,
    encode_chat,
    pad_chats,
    read_extras,
    read_objects,
    read_pair,
    read_turns,
)
from model import build_model


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


def read_inputs(config: Config, names: list[str]) -> list[Conversation]:
    """The conversations of .jsonl files. A row has `messages`, or two answers as in training."""
    rows = [item for name in names for item in read_objects(name)]
    return [chat for place, row in rows for chat in read_row(row, place)]


def read_row(row: dict, place: str) -> list[Conversation]:
    if "messages" in row:
        chats = [read_turns([row["messages"]], place)]
    else:
        pair = read_pair(row, place)
        chats = [pair.chosen, pair.rejected]
    return [Conversation(messages, place, read_extras(row, place)) for messages in chats]


def encode(chat: Conversation, config: Config) -> torch.Tensor:
    try:
        tokens = encode_chat(chat.messages, config, chat.settings)
    except ValueError as error:
        raise SystemExit(f"{chat.place}: {error}") from error
    if len(tokens) > config.context:
        raise SystemExit(
            f"{chat.place} has {len(tokens)} tokens, and --context was {config.context} in "
            "training: shorten it, or train with a larger --context."
        )
    return torch.tensor(tokens)


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for chats in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            tokens, mask = pad_chats([encode(chat, config) for chat in chats])
            rewards = model(tokens.to(device), mask.to(device)).cpu().double()
            for chat, reward in zip(chats, rewards.tolist(), strict=True):
                answer = chat.messages[-1]["content"]
                rows.append({"place": chat.place, "answer": answer, "reward": reward})
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    help = "a .jsonl file of conversations, with the key messages or the keys of the training data"
    parser.add_argument("inputs", nargs="+", metavar="FILE", help=help)
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs)
    if PartialState().is_main_process:
        table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    PartialState().destroy_process_group()
