"""Predicts with the weights of a run."""

from dataclasses import fields
from pathlib import Path

from accelerate import PartialState
from environment import read_settings
from model import build_model
from safetensors import SafetensorError
from safetensors.torch import load_model
from torch import nn
from train import Config


def load(folder=Config.output_dir, device=None) -> tuple[Config, nn.Module]:
    """The settings of a run, and its model with the trained weights, in evaluation mode."""
    #: region choose_run
    folder = Path(folder)
    #: end choose_run
    weights = folder / "model.safetensors"
    #: slot choose_weights
    if not weights.exists():
        raise SystemExit(f"{weights} does not exist: train first, or name a run that has ended.")
    saved = read_settings(folder)
    values = {}
    for field in fields(Config):
        if field.name in saved:  # a path is saved as a text
            value = saved[field.name]
            values[field.name] = Path(value) if field.type is Path else value
    config = Config(**values | {"output_dir": folder})
    model = build_model(config)
    try:
        load_model(model, weights)
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise SystemExit(f"{weights} does not fit the model of this project: {reason}") from error
    return config, model.to(device or PartialState().device).eval()
