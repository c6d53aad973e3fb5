"""Predicts with the weights of a run: `python predict.py "Kelby is in Oslo." "Where?"`."""

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
from data import Question, collate, holds_objects, make_windows, read_objects, read_texts
from metrics import find_spans
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
    """A text and a question about it, or the lines of .jsonl files, which have both."""
    if len(names) == 2 and not any(holds_objects(name) or isfile(name) for name in names):
        row = dict(zip(("context", "question"), names, strict=True))
        return [Question(*read_texts(row, "The input"))]
    questions = []
    for name in names:
        if not holds_objects(name):
            raise SystemExit(f"Give a text and a question about it, or .jsonl files, not {name!r}.")
        questions += [Question(*read_texts(row, place)) for place, row in read_objects(name)]
    return questions


def read_answer(question: Question, windows: list) -> dict:
    """The best answer of all windows of a question, given with their scores.

    The score is its probability among all answers in all windows and no answer.
    """
    best, window, span = max(windows, key=lambda one: one[0])[:3]
    none = min(one[3] for one in windows)
    whole = torch.tensor([none, *(one[4] for one in windows)], dtype=torch.float64).logsumexp(dim=0)
    start, end = window.find(*span) if best > none else (None, None)
    answer = "" if start is None else question.context[start:end]
    score = float((max(best, none) - whole).exp())
    row = {"question": question.question, "answer": answer, "score": score}
    return row | {"start": start, "end": end}


def predict(config: Config, model: torch.nn.Module, inputs) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        for questions in DataLoader(share, 4 * config.batch_size, collate_fn=list):
            found = [[] for _ in questions]
            windows = make_windows(questions, config)
            for batch in DataLoader(windows, 4 * config.batch_size, collate_fn=collate):
                *inputs, _, parts = batch
                logits = model(*(values.to(device) for values in inputs))
                scores, spans, none, sums = find_spans(logits, parts)
                columns = (scores.tolist(), parts, spans.tolist(), none.tolist(), sums.tolist())
                for one in zip(*columns, strict=True):
                    found[one[1].number].append(one)
            rows += map(read_answer, questions, found)
    return gather_object(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    help = "a text and a question about it, or .jsonl files with the keys context and question"
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help=help)
    parser.add_argument("--json", action="store_true", help="print JSON lines")
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
            table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    PartialState().destroy_process_group()
