"""Predicts with the weights of a run: `python {{ task.command }}`."""

import argparse
from dataclasses import fields
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from environment import check_environment, read_settings
from model import build_model
from safetensors import SafetensorError
from torch import nn
from train import Config


def load(folder=Config.output_dir, device=None) -> tuple[Config, nn.Module]:
    """The settings of a run, and its model with the trained weights, in evaluation mode."""
    #: region accelerator
    accelerator = Accelerator()
    #: end accelerator
    check_environment(accelerator)
    #: region choose_run
    folder = Path(folder)
    #: end choose_run
    weights = folder / "model.safetensors"
    if not weights.exists():
        raise SystemExit(f"{folder} has no model.safetensors: train first, or use another --run.")
    saved = read_settings(folder) | {"output_dir": folder}
    known = [field for field in fields(Config) if field.name in saved]
    values = {f.name: Path(saved[f.name]) if f.type is Path else saved[f.name] for f in known}
    config = Config(**values)
    #: region build
    model = build_model(config)
    #: end build
    try:
        ...  #: slot load_weights
    except (OSError, RuntimeError, SafetensorError) as error:
        raise SystemExit(f"{weights} does not fit the model of this project: {error}") from error
    return config, model.to(device or accelerator.device).eval()


#: slot inputs


#: slot functions


@torch.inference_mode()
def predict(
    config: Config, model: nn.Module, inputs
    #: slot parameters
) -> list[dict]:
    """A row for each input, in their order. All processes call it together."""
    device, rows = next(model.parameters()).device, []
    #: slot before_batches
    #: region share
    with PartialState().split_between_processes(inputs) as share:
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
    parser.add_argument("--run", default=Config.output_dir, help="the folder of a run")
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
