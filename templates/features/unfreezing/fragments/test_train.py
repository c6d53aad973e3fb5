from pathlib import Path
from unittest import mock

import torch
import train
from safetensors.torch import load_file, save_file

#: slot settings
"unfreezing_epochs": 1,

#: replace same
# what is unfrozen after a resume has another place in optimizer.bin, which has another size
same = name == "checkpoint.json" or (one / name).read_bytes() == (other / name).read_bytes()
if name == "optimizer.bin":
    states = [torch.load(folder / name, weights_only=True) for folder in (one, other)]
    torch.testing.assert_close(states[0]["state"], states[1]["state"], rtol=0, atol=0)
    same = states[0]["param_groups"] == states[1]["param_groups"]

#: slot tests
def staged_run(folder: Path) -> None:
    """Train for a frozen and an unfrozen epoch. Each process keeps its weights of both."""
    save = train.Checkpoints.save

    def keep(checkpoints) -> None:
        process = checkpoints.accelerator.process_index
        model = checkpoints.accelerator.unwrap_model(checkpoints.accelerator._models[0])
        weights = {name: weight.detach().clone() for name, weight in model.named_parameters()}
        folder.mkdir(exist_ok=True)
        save_file(weights, folder / f"{checkpoints.progress.epoch}.{process}")
        save(checkpoints)

    with mock.patch.object(train.Checkpoints, "save", keep):
        run(folder / "run", checkpoint_unit="epochs", checkpoint_every=1)


def test_frozen_layers_stay_until_their_stage(tmp_path):
    staged_run(tmp_path)
    train.set_seed(train.Config().seed)
    fresh = dict(build_model(train.Config()).named_parameters())
    epochs = [load_file(tmp_path / f"{epoch}.0") for epoch in (1, 2)]
    frozen = {name for name in fresh if torch.equal(epochs[0][name], fresh[name])}
    assert frozen and frozen != set(fresh), "in the first stage, some layers learn and some do not"
    assert any(
        not torch.equal(epochs[1][name], fresh[name]) for name in frozen
    ), "none was unfrozen"


def test_unfrozen_layers_are_the_same_on_all_processes(tmp_path):
    launch(staged_run, tmp_path)
    for epoch in (1, 2):
        one, other = (load_file(tmp_path / f"{epoch}.{process}") for process in (0, 1))
        for name, weights in one.items():
            message = f"{name} of epoch {epoch}: freeze after prepare(), or it is not averaged"
            assert torch.equal(weights, other[name]), message
