import test_resume
import train
from data import build_loaders
from helpers import SETTINGS

#: slot tests
def test_resume_with_persistent_workers_is_exact(tmp_path, monkeypatch, capsys):
    dataset = build_loaders(train.Config(**SETTINGS))[0].dataset
    persistent = not hasattr(dataset, "set_epoch")
    monkeypatch.setitem(SETTINGS, "data_loading_persistent_workers", persistent)
    test_resume.test_resume_is_exact(tmp_path, monkeypatch, capsys, every=8)
