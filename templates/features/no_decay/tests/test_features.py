from torch import nn

import train

#: slot tests
def test_norms_and_biases_do_not_decay():
    model = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))
    config = train.Config(weight_decay=0.1)
    decays = {
        id(parameter): group["weight_decay"]
        for group in train.build_optimizer(model, config).param_groups
        for parameter in group["params"]
    }
    found = {name: decays.get(id(parameter)) for name, parameter in model.named_parameters()}
    assert found == {"0.weight": 0.1, "0.bias": 0.0, "1.weight": 0.0, "1.bias": 0.0}
