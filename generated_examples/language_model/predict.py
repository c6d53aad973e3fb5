"""Predicts with the weights of a run: `python predict.py "def main("`."""

import argparse
import json
import sys
from collections.abc import Sequence
from os.path import isfile
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import broadcast_object_list, gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
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


def draw(logits: Tensor, generators: list[torch.Generator]) -> list[Tensor]:
    """A token for each text, with the text's own random numbers."""
    rows = logits.float().softmax(dim=-1).cpu()
    pairs = zip(rows, generators, strict=True)
    return [torch.multinomial(row, 1, generator=generator) for row, generator in pairs]


def generate(
    model,
    texts: list[list[int]],
    end: int,
    context: int,
    length: int,
    device,
    bos: Sequence[int] = (),
):
    """Extend each text by up to `length` tokens, independently of the other texts.

    The model sees the last `context` tokens, the first of which are `bos`.
    It stops when all texts have reached the end of a document. What follows an end has no meaning.
    """
    starts, texts = texts, [torch.tensor(text) for text in texts]
    generators = [torch.Generator().manual_seed(0) for _ in texts]
    for _ in range(length):
        if all(end in text[len(start) :] for start, text in zip(starts, texts, strict=True)):
            break
        windows = [torch.tensor([*bos, *text[-context:][len(bos) :].tolist()]) for text in texts]
        inputs = pad_sequence(windows, batch_first=True).to(device)  # no token sees a later one
        lasts = [len(window) - 1 for window in windows]
        logits = model(inputs)[range(len(lasts)), lasts]
        pairs = zip(texts, draw(logits, generators), strict=True)
        texts = [torch.cat(pair) for pair in pairs]
    return texts


def predict(config: Config, model: torch.nn.Module, inputs, length: int) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    tokenizer = build_tokenizer(config)
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for prompts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            starts = [[*tokenizer.start, *tokenizer.encode(prompt)] for prompt in prompts]
            texts = generate(
                model, starts, tokenizer.end, config.context, length, device, tokenizer.bos
            )
            for prompt, start, text in zip(prompts, starts, texts, strict=True):
                tokens = [*text[len(start) :].tolist(), tokenizer.end]
                tokens = tokens[: tokens.index(tokenizer.end)]  # up to the end of the document
                rows.append({"prompt": prompt, "text": tokenizer.decode([*start[1:], *tokens])})
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "inputs", nargs="+", metavar="TEXT", help="a text, a .txt file of lines, or -"
    )
    parser.add_argument("--length", type=int, default=200, help="how many tokens to generate")
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
