"""Predicts with the weights of a run: `python predict.py "def __[MASK]nit__(self):"`."""

import argparse
import csv
import json
import sys
from os.path import isfile
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import broadcast_object_list, gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import MASK, build_tokenizer, pad
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


def encode_masked(text: str, config: Config) -> Tensor:
    """The tokens of a text that has a mask in it."""
    if MASK not in text:
        raise SystemExit(f"Write {MASK} for each token to predict: there is none in {text!r}.")
    tokens = build_tokenizer(config).encode_masked(text)
    if len(tokens) > config.max_length:
        raise SystemExit(
            f"A text has {len(tokens)} tokens, and --max-length was {config.max_length} in "
            "training: shorten it, or train with a larger --max-length."
        )
    return torch.tensor(tokens)


def predict(config: Config, model: torch.nn.Module, inputs, top: int = 5) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    tokenizer = build_tokenizer(config)
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            encoded = [encode_masked(text, config) for text in texts]
            mask = pad([torch.ones_like(tokens) for tokens in encoded]).bool()
            logits = model(pad(encoded).to(device), mask.to(device)).cpu().double()
            logits[..., tokenizer.mask] = -torch.inf  # the mask itself is not an answer
            for text, tokens, scores in zip(texts, encoded, logits.softmax(dim=-1), strict=True):
                masks = (tokens == tokenizer.mask).nonzero().squeeze(1)
                best = tokens.clone()
                best[masks] = scores[masks].argmax(dim=-1)
                for number, place in enumerate(masks.tolist(), start=1):
                    for prob, token in zip(*scores[place].topk(top), strict=True):
                        filled = best.clone()
                        filled[place] = token
                        row = {
                            "text": text,
                            "mask": number,
                            "token": tokenizer.decode([int(token)]),
                        }
                        row |= {"probability": float(prob)}
                        rows.append(row | {"filled": tokenizer.decode(filled.tolist())})
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "inputs", nargs="+", metavar="TEXT", help="a text, a .txt file of lines, or -"
    )
    parser.add_argument("--top", type=int, default=5, help="how many tokens to list for each mask")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs, arguments.top)
    if PartialState().is_main_process:
        if arguments.json:
            print(*map(json.dumps, rows), sep="\n")
        else:
            table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    PartialState().destroy_process_group()
