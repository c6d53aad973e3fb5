import torch
from safetensors.torch import load_file

import layers
import train
from helpers import run

#: slot tests
def test_layers_are_recomputed_with_the_same_result(tmp_path, monkeypatch):
    checkpoint, calls = layers.checkpoint, {"needed": 0, "computed": 0}

    def count(compute, *inputs, **settings):
        def compute_and_count(*given, **named):
            calls["computed"] += torch.is_grad_enabled()
            return compute(*given, **named)

        output = checkpoint(compute_and_count, *inputs, **settings)
        first = output[0] if isinstance(output, tuple) else output
        # forward and, unless the layer is frozen, backward; not during an evaluation
        calls["needed"] += torch.is_grad_enabled() * (1 + first.requires_grad)
        return output

    monkeypatch.setattr(layers, "checkpoint", count)
    run(tmp_path / "recomputed", epochs=1, max_steps=2)
    assert calls["computed"] == calls["needed"] > 0, "a layer keeps its activations"
    monkeypatch.setattr(train, "checkpoint_layers", lambda model: None)
    run(tmp_path / "kept", epochs=1, max_steps=2)
    kept = load_file(tmp_path / "kept" / "model.safetensors")
    for name, weights in load_file(tmp_path / "recomputed" / "model.safetensors").items():
        assert torch.equal(weights, kept[name]), name
