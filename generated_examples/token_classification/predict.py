"""Predicts with the weights of a run: `python predict.py "Kelmond was born in Norby ."`."""

import argparse
import csv
import json
import re
import sys
from itertools import accumulate
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
from data import collate, encode
from metrics import find_entities
from model import build_model


def load(folder=None, device=None) -> tuple[Config, torch.nn.Module]:
    """The settings of a run, by default the newest, and its trained model in evaluation mode."""
    check_environment(Accelerator())
    config = load_config(Path(folder or newest_run()))
    model = build_model(config, json.loads((config.output_dir / "tags.json").read_text()))
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


def split_words(text: str | list[str]) -> tuple[str, list[tuple[int, int]]]:
    """A text, and where its words start and end: runs of letters and digits, or other characters.

    If your training data splits words differently, change this, or pass lists of words.
    """
    if isinstance(text, str):
        return text, [word.span() for word in re.finditer(r"\w+|[^\w\s]", text)]
    ends = list(accumulate(len(word) + 1 for word in text))
    return " ".join(text), [(e - 1 - len(w), e - 1) for w, e in zip(text, ends, strict=True)]


def read_entities(text: str, spans: list[tuple[int, int]], probs: Tensor, names: list[str]):
    """The entities of a text, in their order. `probs` has a row for each word: (words, tags).

    `start` and `end` count the characters of the text. The probability is the product over
    its tags, as if the words were independent.
    """
    best, tags = probs.max(dim=-1)
    entities = []
    for _, first, after in sorted(find_entities(tags.tolist()), key=lambda found: found[1]):
        start, end = spans[first][0], spans[after - 1][1]
        kind, probability = names[tags[first]][2:], float(best[first:after].prod())
        row = {"type": kind, "entity": text[start:end], "start": start, "end": end}
        entities.append({**row, "probability": probability})
    return entities


def write(rows: list[dict], as_json: bool) -> None:
    """Print JSON lines, or CSV with a row for each entity."""
    if as_json:
        print(*map(json.dumps, rows), sep="\n")
        return
    columns = ["line", "type", "entity", "start", "end", "probability"]
    table = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    table.writeheader()
    for line, row in enumerate(rows, start=1):
        table.writerows({"line": line, **entity} for entity in row["entities"])


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    names = json.loads((config.output_dir / "tags.json").read_text())
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            lines = [split_words(text) for text in texts]
            words = [[text[start:end] for start, end in spans] for text, spans in lines]
            encoded = [(torch.tensor(tokens), starts) for tokens, starts in encode(words, config)]
            tokens, mask, _ = collate([(tokens, tokens) for tokens, _ in encoded])
            logits = model(tokens.to(device), mask.to(device))
            probabilities = logits.cpu().double().softmax(dim=-1)
            for (text, spans), (_, starts), probs in zip(
                lines, encoded, probabilities, strict=True
            ):
                rows.append(
                    {"text": text, "entities": read_entities(text, spans, probs[starts], names)}
                )
                if len(starts) < len(spans):
                    beyond = text[spans[len(starts)][0] :]
                    print(f"beyond --max-length, without entities: {beyond}", file=sys.stderr)
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "inputs", nargs="+", metavar="TEXT", help="a text, a .txt file of lines, or -"
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines, with the texts")
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs)
    if PartialState().is_main_process:
        write(rows, arguments.json)
    PartialState().destroy_process_group()
