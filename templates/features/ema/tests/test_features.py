import pytest
import torch
from safetensors.torch import load_file
from torch import nn

import train
from callbacks import Ema
from helpers import run

#: slot tests
def test_ema_averages_every_step():
    model = nn.Linear(1, 1, bias=False)
    ema = Ema(model, decay=0.25)
    for value in (1.0, 2.0, 3.0):
        nn.init.constant_(model.weight, value)
        ema.update()
    with ema.applied():
        # less of the average remains than decay says: 3/12 after 2 steps, then 0.25
        assert model.weight.item() == pytest.approx(0.25 * (0.25 * 1 + 0.75 * 2) + 0.75 * 3)
    assert model.weight.item() == 3.0, "training continues with the model's own weights"


def test_ema_is_what_is_kept(tmp_path, monkeypatch):
    created = []

    def create(model: nn.Module, decay: float) -> Ema:
        created.append((model, Ema(model, decay)))
        return created[0][1]

    monkeypatch.setattr(train, "Ema", create)
    run(tmp_path, epochs=1)
    model, ema = created[0]
    assert ema.steps == 6, "average the weights after each step"
    own = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    kept = load_file(tmp_path / "model.safetensors")
    with ema.applied():
        for name, weight in model.named_parameters():
            if name in kept:  # of shared weights, one name is saved
                torch.testing.assert_close(kept[name], weight.detach(), msg="save the average")
    names = own.keys() & kept.keys()
    assert not all(torch.equal(own[name], kept[name]) for name in names), "these are not averages"
