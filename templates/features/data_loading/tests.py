from unittest import mock

import pytest
import torch

import test_resume
import train
from data import build_loaders, loading_settings
from helpers import SETTINGS, run

#: into tests/helpers.py
#: slot settings
"num_workers": 1,

#: into tests/test_features.py
#: slot tests
def test_the_loaders_have_the_settings():
    changes = {"data_loading_prefetch_factor": 3, "data_loading_persistent_workers": False}
    for loader in build_loaders(train.Config(**{**SETTINGS, **changes, "num_workers": 2})):
        assert (loader.num_workers, loader.prefetch_factor) == (2, 3)
    for loader in build_loaders(train.Config(**{**SETTINGS, **changes, "num_workers": 0})):
        assert (loader.num_workers, loader.prefetch_factor) == (0, None)


def test_memory_is_page_locked_for_a_device():
    for device in (True, False):
        with mock.patch.object(torch.accelerator, "is_available", lambda device=device: device):
            settings = loading_settings([], train.Config(data_loading_pin_memory=True))
            assert settings["pin_memory"] == device


def test_training_does_not_wait_for_copies(tmp_path):
    checked = mock.patch.object(train, "check_environment", side_effect=InterruptedError)
    with checked as check, pytest.raises(InterruptedError):
        run(tmp_path)
    accelerator = check.call_args.args[0]
    assert accelerator.dataloader_config.non_blocking


def test_persistent_workers_are_refused_if_the_data_change_with_the_epoch():
    config = train.Config(num_workers=1, data_loading_persistent_workers=True)
    assert loading_settings([], config)["persistent_workers"]
    with pytest.raises(SystemExit, match="persistent workers don't see"):
        loading_settings(mock.Mock(spec=["set_epoch"]), config)

#: slot tests with checkpoints
def test_resume_with_persistent_workers_is_exact(tmp_path, monkeypatch, capsys):
    dataset = build_loaders(train.Config(**SETTINGS))[0].dataset
    persistent = not hasattr(dataset, "set_epoch")
    monkeypatch.setitem(SETTINGS, "data_loading_persistent_workers", persistent)
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys)
