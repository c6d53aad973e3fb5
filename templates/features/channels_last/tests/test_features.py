import torch

import train
from helpers import SETTINGS, run

#: slot tests
def test_filters_have_their_channels_last(tmp_path, monkeypatch):
    """Filters must stay channels-last in prepare() and in each step."""
    model = train.build_model(train.Config(**SETTINGS))
    monkeypatch.setattr(train, "build_model", lambda config: model)
    run(tmp_path, epochs=1, max_steps=2)
    filters = [weight for weight in model.parameters() if weight.ndim == 4]
    last = [weight.is_contiguous(memory_format=torch.channels_last) for weight in filters]
    assert all(last), "the filters have their channels first"
