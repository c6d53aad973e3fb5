import pytest
from torch import nn

import train
from helpers import SETTINGS, run
from parameter_groups import group_parameters, layer_of

#: slot tests
def test_early_layers_learn_more_slowly(tmp_path, monkeypatch):
    """Each parameter has the right rate and decay, even if a schedule changes the rates."""
    prepare, groups, shares = train.Accelerator.prepare, [], {}

    def look(accelerator, *objects):
        prepared = prepare(accelerator, *objects)
        groups.append(prepared[1].param_groups)
        return prepared

    monkeypatch.setattr(train.Accelerator, "prepare", look)
    run(tmp_path, max_steps=3, learning_rate=1e-3)
    rates = [group.get("initial_lr", group["lr"]) for group in groups[0]]  # before a schedule
    for group, rate in zip(groups[0], rates, strict=True):
        shares.setdefault(group["depth"], set()).add(round(rate / rates[0], 6))
        decays = {parameter.ndim > 1 for parameter in group["params"]}
        assert decays in (set(), {group["weight_decay"] > 0}), "norms and biases must not decay"
    config = train.Config(**SETTINGS)
    assert shares == {depth: {round(config.layer_rates_factor**depth, 6)} for depth in shares}
    assert len(shares) > 1, "all layers have the same rate"

#: slot tests when kind=layers
@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("blocks.3.norm.bias", "blocks.3"),
        ("encoder.layer.11.attention.query.weight", "encoder.layer.11"),
        ("embeddings.position.weight", "embeddings.position"),
        ("2.weight", "2"),
        ("head.weight", "head"),
        ("conv1.weight", "conv1"),
    ],
)
def test_layers_are_found_by_their_names(name, layer):
    assert layer_of(name) == layer

def test_a_norm_belongs_to_the_layer_before_it():
    model = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2), nn.Linear(2, 1))
    depths = {p: g["depth"] for g in group_parameters(model, 1.0, 0.1) for p in g["params"]}
    assert [depths[parameter] for parameter in model.parameters()] == [1, 1, 1, 1, 0, 0]

#: slot tests when kind=head
def test_the_head_is_the_last_part_or_the_one_that_is_named():
    model = nn.ModuleDict({name: nn.Linear(2, 2) for name in ("body", "neck", "head")})
    for names, parts in (("", ["head"]), ("neck,head", ["neck", "head"])):
        groups = group_parameters(model, names, 1.0, 0.1)
        found = {parameter for group in groups[:2] for parameter in group["params"]}
        assert found == {parameter for part in parts for parameter in model[part].parameters()}
        assert sum(len(group["params"]) for group in groups) == 6, "a parameter is missing"
    with pytest.raises(SystemExit, match="no part 'hat' for its head; it has body, neck, head"):
        group_parameters(model, "hat", 1.0, 0.1)
