from pathlib import Path
from unittest import mock

import torch
from accelerate.utils import set_seed
from safetensors.torch import load_file, save_file

import train
from helpers import SETTINGS, launch, run
from model import build_model

#: into tests/helpers.py
#: slot settings
#: region unfreezing_settings
"unfreezing_epochs": 1,
#: end unfreezing_settings

#: replace sgd
#: region unfreezing_sgd
groups = [{"params": list(model.parameters()), "depth": 0}]
return optim.SGD(groups, config.learning_rate)
#: end unfreezing_sgd

#: into tests/test_features.py
#: slot tests
def staged_run(folder: Path) -> None:
    """Train an epoch with frozen layers and one without. Each process saves its weights of both."""
    evaluate, epochs = train.evaluate, iter((1, 2))

    def keep(accelerator, model, loader, name, limit):
        if name == "val":
            parameters = accelerator.unwrap_model(model).named_parameters()
            weights = {key: value.detach().clone() for key, value in parameters}
            save_file(weights, folder / f"{next(epochs)}.{accelerator.process_index}")
        return evaluate(accelerator, model, loader, name, limit)

    with mock.patch.object(train, "evaluate", keep):
        run(folder / "run")


def test_frozen_layers_stay_until_their_stage(tmp_path):
    staged_run(tmp_path)
    config = train.Config(**SETTINGS)
    set_seed(config.seed)
    fresh = dict(build_model(config).named_parameters())
    epochs = [load_file(tmp_path / f"{epoch}.0") for epoch in (1, 2)]
    frozen = {name for name in fresh if torch.equal(epochs[0][name], fresh[name])}
    assert frozen and frozen != set(fresh), "in the first stage, some layers learn and some do not"
    thawed = [name for name in frozen if not torch.equal(epochs[1][name], fresh[name])]
    assert thawed, "no layer was unfrozen"


def test_unfrozen_layers_are_the_same_on_all_processes(tmp_path):
    launch(staged_run, tmp_path)
    for epoch in (1, 2):
        one, other = (load_file(tmp_path / f"{epoch}.{process}") for process in (0, 1))
        for name, weights in one.items():
            message = f"{name} of epoch {epoch}: freeze after prepare(), or it is not averaged"
            assert torch.equal(weights, other[name]), message

#: into tests/test_resume.py
#: replace same
# after a resume, optimizer.bin has the same values in another order
if one.name == "optimizer.bin":
    states = [torch.load(path, weights_only=True) for path in (one, other)]
    torch.testing.assert_close(states[0]["state"], states[1]["state"], rtol=0, atol=0)
    same = states[0]["param_groups"] == states[1]["param_groups"]
else:
    same = one.read_bytes() == other.read_bytes()
