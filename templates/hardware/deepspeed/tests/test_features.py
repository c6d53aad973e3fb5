import pytest
from safetensors.torch import save_file
from torch import nn

from weights import read_weights

#: slot tests with best_model
def test_only_shared_weights_may_be_missing(tmp_path):
    """A weight that two layers share is saved once. Any other missing weight is an error."""
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    save_file({"0.weight": model[0].weight.detach()}, tmp_path / "weights")
    with pytest.raises(RuntimeError, match='Missing key.*"1.weight"'):
        model.load_state_dict(read_weights(tmp_path / "weights", model))
    model[1].weight = model[0].weight
    model.load_state_dict(read_weights(tmp_path / "weights", model))
