"""Evaluation repeats itself, and does not depend on the batch size."""

import pytest
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader

import train
from data import build_loaders
from helpers import SETTINGS, take
from model import build_model


def test_evaluation_changes_nothing():
    accelerator = Accelerator()
    model = accelerator.prepare(build_model(train.Config(**SETTINGS)))
    loader = accelerator.prepare(build_loaders(train.Config(**SETTINGS))[1])
    first = train.evaluate(accelerator, model, loader, "val", 0)
    assert model.training, "call model.train() after evaluating"
    again = train.evaluate(accelerator, model, loader, "val", 0)
    assert again == first, "two evaluations differ: call model.eval() before evaluating"


def test_evaluation_does_not_depend_on_the_batch_size():
    results = evaluate_sizes(Accelerator(), (1, 7, 33))
    for size, expected in results["whole"].items():
        for name, value in expected.items():
            message = f"{name} of {size} samples depends on the batch size: average over samples"
            found = results["batched"][size][name]
            assert found == pytest.approx(value, rel=1e-5, abs=1e-5), message


def evaluate_sizes(accelerator: Accelerator, sizes: tuple[int, ...]) -> dict[str, dict]:
    """Evaluate sets of several sizes, in batches of 4 and as a whole."""
    set_seed(1)
    config = train.Config(**SETTINGS)
    model = accelerator.prepare(build_model(config))
    loader = build_loaders(config)[1]

    def evaluate(size: int, batch_size: int) -> dict[str, float]:
        samples = take(loader, size)
        batches = accelerator.prepare(DataLoader(samples, batch_size, collate_fn=loader.collate_fn))
        return train.evaluate(accelerator, model, batches, "val", 0)

    return {
        "batched": {size: evaluate(size, 4) for size in sizes},
        "whole": {size: evaluate(size, size) for size in sizes},
    }
