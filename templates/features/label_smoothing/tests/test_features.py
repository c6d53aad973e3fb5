from unittest import mock

import torch

import train
from helpers import run

#: slot tests
def test_labels_are_smooth_in_training_alone(tmp_path, monkeypatch):
    smoothing = {True: set(), False: set()}  # with gradients and without
    functions = train.F

    def look(*arguments, label_smoothing=0.0, **settings):
        smoothing[torch.is_grad_enabled()].add(label_smoothing)
        return functions.cross_entropy(*arguments, label_smoothing=label_smoothing, **settings)

    monkeypatch.setattr(train, "F", mock.Mock(wraps=functions, cross_entropy=look))
    run(tmp_path, epochs=1, label_smoothing=0.2)
    assert smoothing == {True: {0.2}, False: {0.0}}
