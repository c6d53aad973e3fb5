import pytest
import torch
from callbacks import Ema
from safetensors.torch import load_file
from torch import nn

#: slot tests
def test_ema_averages_every_update():
    model = nn.Linear(1, 1, bias=False)
    ema = Ema(model, decay=0.25)
    for value in (1.0, 2.0, 3.0):
        nn.init.constant_(model.weight, value)
        ema.update()
    with ema.applied():
        # at first less of the average stays than decay says: 3/12 after 2 updates, then 0.25
        assert model.weight.item() == pytest.approx(0.25 * (0.25 * 1 + 0.75 * 2) + 0.75 * 3)
    assert model.weight.item() == 3.0, "training goes on with the model's own weights"


def test_ema_is_what_is_kept(tmp_path):
    last = run(tmp_path, epochs=1)
    own, kept = (load_file(folder / "model.safetensors") for folder in (last, tmp_path))
    assert not all(torch.equal(own[name], kept[name]) for name in own), "these are not averages"
