from pathlib import Path
from unittest import mock

import pytest
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from safetensors.torch import load_file, load_model
from torch.utils.data import DataLoader

import train
from data import build_loaders
from helpers import SETTINGS, build_exact_model, build_sgd, column, launch, run
from lib.metrics import IGNORED
from metrics import RunningLoss

#: into tests/test_app.py with generates
#: slot values
values = ["abc", 3]

#: slot expected
[row] = app.predict(config, model, ["abc"], 3)
assert shown == row["text"]

#: into tests/test_predict.py with generates
#: slot metric
accelerator = Accelerator(mixed_precision=getattr(config, "mixed_precision", "no"))
model, loader = accelerator.prepare(model, build_loaders(config)[2])
metrics = train.evaluate(accelerator, model, loader, "test", config.limit_batches)
assert metrics["test_loss"] == pytest.approx(reported["test_loss"], rel=1e-6)

#: into tests/test_features.py with tokens
#: slot tests
def test_a_step_is_the_mean_over_tokens(tmp_path, capsys):
    """Sequences differ in length, and each of their tokens counts the same. Padding is ignored."""
    seen, weights, rates = [], {}, []

    def build_and_note(model, config):
        optimizer = build_sgd(model, config)
        optimizer.register_step_pre_hook(lambda *_: rates.append(optimizer.param_groups[0]["lr"]))
        return optimizer

    with mock.patch.multiple(
        train,
        build_model=build_exact_model,
        build_optimizer=build_and_note,
        build_loaders=lambda config: build_ragged_loaders(config, seen),
    ):
        for name, rate in (("start", 1e-12), ("end", 0.1)):
            # without data workers: `seen` must be filled in this process
            #: region one_batch
            changes = {"epochs": 1, "limit_batches": 1, "num_workers": 0}
            #: end one_batch
            run(tmp_path / name, learning_rate=rate, **changes)
            weights[name] = load_file(tmp_path / name / "model.safetensors")
    logged = float(column(capsys.readouterr().out, "loss")[-1])

    config, start = train.Config(**SETTINGS), tmp_path / "start" / "model.safetensors"
    ...  #: slot started
    *inputs, targets = seen[0]
    loss = F.cross_entropy(model(*inputs).flatten(0, 1), targets.flatten())
    assert logged == pytest.approx(loss.item(), abs=1e-4), "the loss is that of a token"
    loss.backward()
    for name, weight in parameters:
        expected = weights["start"][name] - rates[-1] * weight.grad
        message = f"{name}: divide by the tokens of the step"
        torch.testing.assert_close(weights["end"][name], expected, rtol=0, atol=1e-5, msg=message)


def test_tokens_count_the_same_on_all_processes(tmp_path):
    """2 processes with sequences of different lengths take the step of one with all of them."""
    ragged_run(tmp_path / "1", batch_size=32)
    result = launch(ragged_run, tmp_path / "2")
    assert result.returncode == 0, result.stderr
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in "12")
    for name, weights in one.items():
        message = f"{name}: divide by the tokens of all processes"
        torch.testing.assert_close(two[name], weights, rtol=0, atol=1e-5, msg=message)


def ragged_run(folder: Path, batch_size: int = 16) -> None:
    """Check a mean over tokens, and train on sequences of very different lengths."""
    accelerator = Accelerator()
    before, after = RunningLoss(accelerator), RunningLoss(accelerator)
    tokens = 1 + 9 * accelerator.process_index
    before.add(torch.full((1, tokens), float(tokens)), torch.zeros(1, tokens))
    after.load_state_dict(before.state_dict())
    after.add(torch.full((1, tokens), float(tokens)), torch.zeros(1, tokens))
    expected = {1: 1.0, 2: (1 + 100) / 11}[accelerator.num_processes]
    assert after.read() == pytest.approx(expected), "the mean is over tokens"
    assert before.read() == pytest.approx(expected), "saving changes nothing"
    assert after.end_epoch() == pytest.approx(expected), "the mean is over tokens"
    with mock.patch.multiple(
        train,
        build_model=build_exact_model,
        build_optimizer=build_sgd,
        build_loaders=build_ragged_loaders,
    ):
        run(folder, epochs=1, batch_size=batch_size, learning_rate=0.03)


def build_ragged_loaders(config, seen: list | None = None) -> tuple[DataLoader, ...]:
    """Loaders that cut sequences to 1 counted token or more. Their sum decides how many."""
    loaders = build_loaders(config)
    collate = loaders[0].collate_fn

    def shorten(samples):
        *inputs, targets = collate(samples)
        # not by the length of the batch, which depends on the processes
        most = 1 + targets.clamp(min=0).sum(dim=1, keepdim=True) % 16
        beyond = (targets != IGNORED).cumsum(dim=1) > most
        batch = (*inputs, targets.masked_fill(beyond, IGNORED))
        if seen is not None:
            seen.append(batch)
        return batch

    loaders[0].collate_fn = shorten
    return loaders

#: slot started with lora
model = adapters.add_adapters(build_exact_model(config), config)
adapters.load_adapters(model, start)
parameters = [item for item in model.named_parameters() if item[1].requires_grad]

#: slot started without lora
model = build_exact_model(config)
load_model(model, start)
parameters = model.named_parameters()
