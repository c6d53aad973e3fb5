"""Predicts with the weights of a run: `python {{ task.command }}`."""

import argparse

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from environment import check_environment, read_settings
from flags import parse_flags
from model import build_model
from train import Config


def load(folder=Config.output_dir, device=None) -> tuple[Config, torch.nn.Module]:
    """The settings of a run, and its model with the trained weights, in evaluation mode."""
    #: region accelerator
    check_environment(Accelerator())
    #: end accelerator
    #: slot choose_run
    config = parse_flags(Config, "", [f"--output-dir={folder}"], read_settings(folder))
    #: region build
    model = build_model(config)
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
    PartialState().destroy_process_group()
