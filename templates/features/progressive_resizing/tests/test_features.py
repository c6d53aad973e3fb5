from unittest import mock

import pytest
import torch
from torch import nn

import train
from helpers import SETTINGS, run
from resizing import check_sizes, find_size, resize

#: slot tests
def test_images_grow_to_their_size(tmp_path, monkeypatch):
    """Images of an evaluation have full size from the start."""
    model, sizes = train.build_model(train.Config(**SETTINGS)), {False: [], True: []}
    model.register_forward_pre_hook(
        lambda model, inputs: sizes[model.training].append(inputs[0].shape[-1])
    )
    monkeypatch.setattr(train, "build_model", lambda config: model)
    run(tmp_path, epochs=5, progressive_resizing_start=0.5)
    full = max(sizes[False])
    assert {*sizes[False][1:]} == {full}, "an evaluation has images of full size"
    assert sizes[True] == sorted(sizes[True]) and sizes[True][-1] == full > sizes[True][0]


def test_sizes_are_those_of_the_epoch():
    config = mock.Mock(epochs=10, progressive_resizing_start=0.5)
    sizes = [find_size(64, epoch, config) for epoch in range(10)]
    assert sizes == [32, 32, 40, 40, 48, 48, 56, 56, 64, 64]
    assert find_size(64, 0, mock.Mock(epochs=1, progressive_resizing_start=0.5)) == 64
    image = torch.rand(2, 3, 64, 64)
    assert resize(image, 0, config).shape == (2, 3, 32, 32)
    assert resize(image, 9, config) is image


def test_a_model_that_takes_one_size_is_refused():
    config = mock.Mock(epochs=10, progressive_resizing_start=0.5)
    loader = mock.Mock(dataset=[(torch.rand(3, 16, 16), 0)])
    fixed = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 2))
    with pytest.raises(SystemExit, match="can't use images of 8 x 8 pixels"):
        check_sizes(fixed, loader, config)
    config.progressive_resizing_start = 1
    check_sizes(fixed, loader, config)
    assert fixed.training
