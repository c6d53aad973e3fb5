"""Model FLOPs utilisation: its operations are those that PyTorch counts."""

from pathlib import Path

import pytest

from scaffold.answers.manifests import load_catalog
from scaffold.answers.resolve import resolve
from scaffold.errors import AnswerError
from support.files import write_files
from support.rendering import render
from support.training import only_in_sweep, run

MFU = {"features.throughput.utilization": "model_flops"}
COUNT = """
import torch, train
from model import build_model
from torch.utils.flop_counter import FlopCounterMode
from utilization import flops_per_token

config = train.Config(layers=4, width=256, context=128)
model, tokens = build_model(config), torch.zeros(2, 128, dtype=torch.long)
with FlopCounterMode(display=False) as counter:
    model(tokens).sum().backward()
print(counter.get_total_flops() / 256 / flops_per_token(model, 0, 0, 0))
"""


def test_only_language_models_tell_it() -> None:
    given = {"project.task": "text_classification", "features.throughput.enabled": True, **MFU}
    with pytest.raises(AnswerError, match="model_flops needs a causal language model"):
        resolve(load_catalog(), {"project.name": "example", **given})


@only_in_sweep
def test_operations_are_those_that_pytorch_counts(tmp_path: Path) -> None:
    """Forward and backward, without attention, which is not counted on the CPU."""
    write_files(tmp_path, render({"project.task": "language_model", **MFU}))
    assert float(run(tmp_path, "-c", COUNT)) == pytest.approx(1, abs=0.02)
