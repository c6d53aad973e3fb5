from pathlib import Path
from unittest import mock

from torch import nn

import train
from helpers import column, launch, run

#: slot tests
def run_with_unused_layer(folder: Path) -> None:
    """Train a model with a layer that its forward pass never calls."""
    build_model = train.build_model

    def build(config) -> nn.Module:
        model = build_model(config)
        model.unused = nn.Linear(2, 2)
        return model

    with mock.patch.object(train, "build_model", build):
        run(folder / "run", max_steps=3, epochs=3)


def test_several_processes_train_although_a_layer_is_unused(tmp_path):
    result = launch(run_with_unused_layer, tmp_path)
    assert len(column(result.stdout, "loss")) == 3, result.stderr
