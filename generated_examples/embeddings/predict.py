"""Predicts with the weights of a run: `python predict.py "The doctor bought the car."`."""

import argparse
import json
import sys
from os.path import isfile
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import broadcast_object_list, gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import tokenize
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


def read_corpus(config: Config, name: str) -> list[str]:
    """The lines of a .txt file, to search."""
    if not name.endswith(".txt"):
        raise SystemExit(f"--search takes a .txt file with a text in each line, not {name!r}.")
    if not (texts := read_inputs(config, [name])):
        raise SystemExit(f"{name} has no lines.")
    return texts


def search(queries: list[dict], corpus: list[dict], count: int) -> list[dict]:
    """The `count` closest rows of the corpus for each query, best first, with their cosines.

    Both arguments are rows of predict().
    """
    ours, others = (torch.tensor([row["vector"] for row in rows]) for rows in (queries, corpus))
    best, places = (ours @ others.T).topk(min(count, len(corpus)))
    rows = []
    for query, cosines, found in zip(queries, best.tolist(), places.tolist(), strict=True):
        pairs = zip(found, cosines, strict=True)
        found = [{"text": corpus[place]["text"], "similarity": cosine} for place, cosine in pairs]
        rows.append({"text": query["text"], "found": found})
    return rows


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            vectors = model(*(part.to(device) for part in tokenize(texts, config)))
            pairs = zip(texts, vectors.tolist(), strict=True)
            rows += [{"text": text, "vector": vector} for text, vector in pairs]
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "inputs", nargs="+", metavar="TEXT", help="a text, a .txt file of lines, or -"
    )
    ways = parser.add_mutually_exclusive_group()  # output: JSON lines by default, or one of these
    ways.add_argument("--npy", help="write the vectors to this .npy file, a row for each text")
    ways.add_argument("--search", help="print the closest lines of this .txt file")
    parser.add_argument("--count", type=int, default=5, help="number of results for --search")
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs)
    if arguments.search:
        corpus = predict(config, model, read_corpus(config, arguments.search))
        rows = search(rows, corpus, max(1, arguments.count))
    if PartialState().is_main_process:
        if arguments.npy:
            try:
                np.save(arguments.npy, np.array([row["vector"] for row in rows], dtype=np.float32))
            except OSError as error:
                raise SystemExit(f"{arguments.npy} can't be written: {error}") from error
        else:
            print(*map(json.dumps, rows), sep="\n")
    PartialState().destroy_process_group()
