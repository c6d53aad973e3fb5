"""Predicts with the weights of a run: `python predict.py 3/25/1998 --length 10`."""

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
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import encode
from model import END, PADDING, build_model


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


def decode(tokens: Tensor) -> str:
    """The text of generated tokens, up to END."""
    known = tokens.tolist()
    known = known[: known.index(END)] if END in known else known
    return bytes(token for token in known if token < 256).decode(errors="replace")


def predict(config: Config, model: torch.nn.Module, inputs, length: int) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for texts in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            sources = [encode(text) for text in texts]
            sources = pad_sequence(sources, batch_first=True, padding_value=PADDING).to(device)
            generated = model.generate(sources, length)
            pairs = zip(texts, map(decode, generated), strict=True)
            rows += [{"source": source, "text": text} for source, text in pairs]
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "inputs", nargs="+", metavar="TEXT", help="a text, a .txt file of lines, or -"
    )
    parser.add_argument("--length", type=int, default=100, help="maximum bytes of a target")
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
