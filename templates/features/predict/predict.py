#: file
"""Predicts with the weights of a run: `python {{ task.command }}`."""

import argparse
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from config import Config, check_environment, load_config, newest_run
from model import build_model


def load(folder=None, device=None) -> tuple[Config, torch.nn.Module]:
    """The settings of a run, by default the newest, and its trained model in evaluation mode."""
    #: region accelerator
    check_environment(Accelerator())
    #: end accelerator
    config = load_config(Path(folder or newest_run()))
    #: slot before_build
    #: region build
    model = build_model(
        #: region settings
        config
        #: end settings
        #: slot built
    )
    #: end build
    ...  #: slot load_weights
    return config, model.to(device or PartialState().device).eval()


#: slot inputs


#: slot functions


def predict(
    config: Config, model: torch.nn.Module, inputs
    #: slot parameters
) -> list[dict]:
    """A row for each input, in their order. Call it on all processes."""
    device, rows = next(model.parameters()).device, []
    #: slot before_batches
    #: region share
    with torch.inference_mode(), PartialState().split_between_processes(inputs) as share:
        #: end share
        #: region batches
        ...  #: slot batches
        #: end batches
    #: region rows
    return gather_object(rows)
    #: end rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    ...  #: slot arguments
    parser.add_argument("--run", help="the folder of a run; default: the newest")
    arguments = parser.parse_args()
    #: region read
    config, model = load(arguments.run)
    inputs = read_inputs(config, arguments.inputs)
    if not len(inputs):
        raise SystemExit("There is nothing to predict.")
    #: end read
    #: region call
    rows = predict(config, model, inputs)
    #: end call
    if PartialState().is_main_process:
        ...  #: slot write
        #: slot main_process
    PartialState().destroy_process_group()
#: end file

import csv
import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_model

#: slot built with saved_classes
, json.loads((config.output_dir / "classes.json").read_text())

#: slot write
#: region predict
table = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
table.writeheader()
table.writerows(rows)
#: end predict

#: slot functions when project.task=diffusion|gan
def write(rows: list[dict], folder: Path) -> None:
    """Write the generated images to 00000.png, 00001.png and so on."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"Can't write to {folder}: {error}") from error
    for row in rows:
        path = folder / f"{row['number']:05}.png"
        pixels = (255 * row["image"]).round().byte().permute(1, 2, 0).squeeze(2)
        Image.fromarray(pixels.numpy()).save(path)
    print(f"{len(rows)} images are in {folder}.")

#: replace predict when project.task=diffusion|gan
write(rows, arguments.output)

#: slot arguments when project.task=sft|dpo
parser.add_argument("--length", type=int, default=200, help="maximum tokens of an answer")

#: slot arguments with generates
parser.add_argument("--json", action="store_true", help="print JSON lines, with the inputs")

#: replace predict with generates
if arguments.json:
    print(*map(json.dumps, rows), sep="\n")
else:
    print(*(row["text"] for row in rows), sep="\n")

#: replace predict when project.task=embeddings
if arguments.npy:
    try:
        np.save(arguments.npy, np.array([row["vector"] for row in rows], dtype=np.float32))
    except OSError as error:
        raise SystemExit(f"{arguments.npy} can't be written: {error}") from error
else:
    print(*map(json.dumps, rows), sep="\n")

#: slot load_weights without lora
weights = config.output_dir / "model.safetensors"
try:
    load_model(model, weights)
except (OSError, RuntimeError, SafetensorError) as error:
    raise SystemExit(f"{weights} can't be loaded: {error}") from error
