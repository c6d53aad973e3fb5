from unittest import mock

from safetensors.torch import load_file
from torch import nn

import train
from helpers import SETTINGS, run
from model import build_model

#: into tests/conftest.py
#: slot environment
os.environ["TORCHDYNAMO_DISABLE"] = "1"  # compiling each run would be slow

#: into tests/test_features.py
#: slot tests
def test_the_model_is_compiled(tmp_path):
    with mock.patch.object(nn.Module, "compile", autospec=True) as compiled:
        run(tmp_path, epochs=1)
    assert compiled.called, "no part of the model is compiled"
    trained = load_file(tmp_path / "model.safetensors").keys()
    fresh = build_model(train.Config(**SETTINGS)).state_dict().keys()
    assert trained <= fresh, "the names of the weights have changed"
