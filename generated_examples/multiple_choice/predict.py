"""Predicts with the weights of a run: `python predict.py "A dog runs." "It barks." "It sings."`."""

import argparse
import csv
import json
import sys
from os.path import isfile
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch.utils.data import DataLoader

from config import Config, check_environment, load_config, newest_run
from data import Question, collate, encode_questions, holds_objects, read_objects, read_question
from metrics import hide_padding
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


def read_inputs(config: Config, names: list[str]) -> list[Question]:
    """A text and its choices, or those of .jsonl files, with the keys of the training data."""
    if files := [name for name in names if isfile(name) and not holds_objects(name)]:
        raise SystemExit(f"Give a text and its choices, or .jsonl files, not {files[0]!r}.")
    if not any(map(holds_objects, names)):
        row = {"context": names[0], "choices": names[1:], "label": None}
        return [read_question(row, "The input")]
    questions = []
    for name in names:
        questions += [read_question(row, place) for place, row in read_objects(name)]
    return questions


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for questions in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            tokens, mask, types, _ = collate(encode_questions(questions, config))
            scores = model(tokens.to(device), mask.to(device), types.to(device)).cpu().double()
            for question, probs in zip(
                questions, hide_padding(scores, mask).softmax(dim=1), strict=True
            ):
                probs = probs[: len(question.choices)].tolist()
                label = probs.index(max(probs))
                row = {
                    "context": question.context,
                    "label": label,
                    "choice": question.choices[label],
                }
                rows.append(row | {"probability": probs[label], "probabilities": probs})
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    help = "a text and two choices or more, or .jsonl files with the keys context and choices"
    parser.add_argument("inputs", nargs="+", metavar="TEXT", help=help)
    parser.add_argument(
        "--json", action="store_true", help="print JSON lines, with all probabilities"
    )
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    rows = predict(config, model, inputs)
    if PartialState().is_main_process:
        if arguments.json:
            print(*map(json.dumps, rows), sep="\n")
        else:
            columns = ["context", "label", "choice", "probability"]
            table = csv.DictWriter(sys.stdout, columns, extrasaction="ignore", lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    PartialState().destroy_process_group()
