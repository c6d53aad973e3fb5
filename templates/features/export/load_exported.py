#: file
"""Load an exported model: `from load import load`.

The folder is complete without the project that trained it: it has the weights, the settings, and
the modules that build the model.
"""

import json
from collections import namedtuple
from pathlib import Path

from safetensors.torch import load_model
from torch import nn

from model import build_model


def load(folder: Path = Path(__file__).parent) -> nn.Module:
    """The model with its trained weights, in evaluation mode."""
    saved = json.loads((folder / "config.json").read_text())["settings"]
    # without lists, which describe the data: cached functions need hashable arguments
    settings = {name: value for name, value in saved.items() if not isinstance(value, list | dict)}
    settings["output_dir"] = folder  # where the run saved facts about its data
    config = namedtuple("Config", settings)(**settings)
    #: region build
    model = build_model(
        config
        #: slot built
    )
    #: end build
    load_model(model, folder / "model.safetensors")
    return model.eval()
#: end file

#: slot built with saved_classes
, json.loads((folder / "classes.json").read_text())
