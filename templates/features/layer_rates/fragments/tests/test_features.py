import train
from helpers import SETTINGS, run

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
    top = groups[0][0]["lr"]
    for group in groups[0]:
        shares.setdefault(group["depth"], set()).add(round(group["lr"] / top, 6))
        decays = {parameter.ndim > 1 for parameter in group["params"]}
        assert decays in (set(), {group["weight_decay"] > 0}), "norms and biases must not decay"
    config = train.Config(**SETTINGS)
    assert shares == {depth: {round(config.layer_rates_factor**depth, 6)} for depth in shares}
    assert len(shares) > 1, "all layers have the same rate"
