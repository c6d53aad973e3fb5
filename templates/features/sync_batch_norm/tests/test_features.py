import torch
from torch import nn

import train
from callbacks import synchronize_batch_norm
from helpers import run

#: slot tests
def test_batch_norm_is_synchronized_on_gpus():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
    assert synchronize_batch_norm(model, torch.device("cpu")) is model
    assert isinstance(synchronize_batch_norm(model, torch.device("cuda"))[1], nn.SyncBatchNorm)


def test_batch_norm_is_synchronized_before_the_model_is_prepared(tmp_path, monkeypatch):
    prepare, calls = train.Accelerator.prepare, []

    def synchronize(model, device):
        calls.append("synchronize")
        return model

    def note(accelerator, *objects):
        calls.append("prepare")
        return prepare(accelerator, *objects)

    monkeypatch.setattr(train, "synchronize_batch_norm", synchronize)
    monkeypatch.setattr(train.Accelerator, "prepare", note)
    run(tmp_path, epochs=1, max_steps=1)
    assert calls[:2] == ["synchronize", "prepare"]
