from unittest import mock

import torch
import train
from safetensors.torch import load_file

#: slot settings
"clipping_max_norm": 1e9,  # so that it does not hide a gradient of another size

#: slot tests
def test_clips_the_gradient_of_the_whole_update(tmp_path, capsys):
    """A clipped step goes where one goes that is not clipped, as far as the norm allows."""
    weights = {}
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        for name, rate, norm in (("start", 0.0, 1.0), ("free", 1.0, 1e9), ("clipped", 1.0, 0.01)):
            changes = {"learning_rate": rate, "clipping_max_norm": norm}
            run(tmp_path / name, epochs=1, max_steps=1, **changes)
            tensors = load_file(tmp_path / name / "model.safetensors")
            weights[name] = torch.cat([tensor.flatten() for tensor in tensors.values()])
    rate = float(column(capsys.readouterr().out, "lr")[-1])
    free, clipped = weights["free"] - weights["start"], weights["clipped"] - weights["start"]
    message = "clip once, after the last backward"
    torch.testing.assert_close(
        clipped, free * 0.01 * rate / free.norm(), rtol=0, atol=1e-6, msg=message
    )
