from unittest import mock

import pytest
import torch
import train
from data import build_loaders, loading_settings

#: slot settings
"num_workers": 1,

#: slot tests
def test_the_loaders_have_the_settings():
    changes = {"data_loading_prefetch_factor": 3, "data_loading_persistent_workers": False}
    for loader in build_loaders(train.Config(num_workers=2, **changes)):
        assert (loader.num_workers, loader.prefetch_factor) == (2, 3)
    for loader in build_loaders(train.Config(num_workers=0, **changes)):
        assert (loader.num_workers, loader.prefetch_factor) == (0, None)


def test_memory_is_page_locked_for_a_device():
    for device in (True, False):
        with mock.patch.object(torch.accelerator, "is_available", lambda device=device: device):
            settings = loading_settings([], train.Config(data_loading_pin_memory=True))
            assert settings["pin_memory"] == device


def test_nothing_waits_for_copies(tmp_path):
    built = mock.patch.object(train, "Checkpoints", side_effect=InterruptedError)
    with built as checkpoints, pytest.raises(InterruptedError):
        run(tmp_path)
    accelerator = checkpoints.call_args.args[0]
    assert accelerator.dataloader_config.non_blocking


def test_a_resumed_run_with_workers_that_stay_is_exact(tmp_path, monkeypatch, capsys):
    config = train.Config(num_workers=0)
    stay = not hasattr(build_loaders(config)[0].dataset, "set_epoch")
    monkeypatch.setitem(SETTINGS, "data_loading_persistent_workers", stay)
    test_resume_is_exact(tmp_path, monkeypatch, capsys, every=8)


def test_workers_that_stay_are_refused_where_they_would_do_harm():
    config = train.Config(num_workers=1, data_loading_persistent_workers=True)
    assert loading_settings([], config)["persistent_workers"]
    with pytest.raises(SystemExit, match="do not see the epoch"):
        loading_settings(mock.Mock(spec=["set_epoch"]), config)
