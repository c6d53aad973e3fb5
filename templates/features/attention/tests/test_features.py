import pytest
from accelerate import Accelerator

import attention
import train
from data import build_loaders
from helpers import SETTINGS
from model import build_model

#: slot tests
def test_attention_computes_the_same_in_another_way():
    config, accelerator = train.Config(**SETTINGS), Accelerator()
    model, loader = build_model(config), accelerator.prepare(build_loaders(config)[1])
    own = train.evaluate(accelerator, model, loader, "val", 2)["val_loss"]
    attention.set_attention(model, "eager")
    part = next(part for part in model.modules() if isinstance(part, attention.PreTrainedModel))
    assert part.config._attn_implementation == "eager"
    eager = train.evaluate(accelerator, model, loader, "val", 2)["val_loss"]
    assert eager == pytest.approx(own, rel=1e-4)


def test_an_attention_that_is_not_there_is_refused():
    model = build_model(train.Config(**SETTINGS))
    with pytest.raises(SystemExit, match="nothing attention can't be used"):
        attention.set_attention(model, "nothing")
