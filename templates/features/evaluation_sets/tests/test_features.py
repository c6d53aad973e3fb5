from unittest import mock

import torch

import train
from data import build_datasets, build_loaders, build_more_loaders
from helpers import SETTINGS, run

#: slot tests
def test_more_sets_are_evaluated(tmp_path, capsys):
    """Training samples, in the order of the training data, evaluated like the validation data."""
    config = train.Config(**SETTINGS)
    val_loader = build_loaders(config)[1]
    loader = build_more_loaders(config, val_loader)["fit"]
    assert len(loader.dataset) == len(val_loader.dataset)
    assert len(loader.dataset.dataset) == len(build_datasets(config)[0])
    assert list(loader.dataset.indices) == list(range(len(loader.dataset)))

    evaluate, evaluated = train.evaluate, []

    def look(accelerator, model, loader, name, limit):
        weights = [weight.detach().clone() for weight in model.parameters()]
        evaluated.append((name, weights))
        return evaluate(accelerator, model, loader, name, limit)

    with mock.patch.object(train, "evaluate", look):
        run(tmp_path, epochs=1)
    (val, val_weights), (fit, fit_weights) = evaluated[-3:-1]
    assert (val, fit, evaluated[-1][0]) == ("val", "fit", "test")
    assert all(map(torch.equal, val_weights, fit_weights)), "evaluate all sets with the same weights"
    assert " | fit_{{ task.metrics[0] }} " in capsys.readouterr().out
