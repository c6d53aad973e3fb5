from unittest import mock

import pytest
import torch
import torch.nn.functional as F
import train
from metrics import IGNORED, RunningLoss
from safetensors.torch import load_file

#: slot tests
def test_an_update_is_the_mean_over_tokens(tmp_path, capsys):
    """Where sequences differ in length, each of their tokens counts the same, and no padding."""
    seen, weights = [], {}
    fakes = {"build_model": build_exact_model, "build_optimizer": build_sgd}
    fakes["build_loaders"] = lambda config: build_ragged_loaders(config, seen)
    with mock.patch.multiple(train, **fakes):
        for name, rate in (("start", 0.0), ("end", 0.1)):
            # without data workers, which would keep what they have seen
            changes = {"epochs": 1, "limit_batches": 1, "num_workers": 0}
            run(tmp_path / name, learning_rate=rate, **changes)
            weights[name] = load_file(tmp_path / name / "model.safetensors")
    log = capsys.readouterr().out
    rate, logged = (float(column(log, name)[-1]) for name in ("lr", "loss"))

    model = build_exact_model(train.Config(**SETTINGS))
    model.load_state_dict(weights["start"])
    *inputs, targets = seen[0]
    loss = F.cross_entropy(model(*inputs).flatten(0, 1), targets.flatten())
    assert logged == pytest.approx(loss.item(), abs=1e-4), "the loss is that of a token"
    loss.backward()
    for name, weight in model.named_parameters():
        expected = weights["start"][name] - rate * weight.grad
        message = f"{name}: divide by the tokens of the update"
        torch.testing.assert_close(weights["end"][name], expected, rtol=0, atol=1e-5, msg=message)


def test_tokens_count_the_same_on_all_processes(tmp_path):
    """2 processes whose sequences differ in length make the update of one with all of them."""
    ragged_run(tmp_path / "1", batch_size=32)
    result = launch(ragged_run, tmp_path / "2")
    assert result.returncode == 0, result.stderr
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in "12")
    for name, weights in one.items():
        message = f"{name}: divide by the tokens of all processes"
        torch.testing.assert_close(two[name], weights, rtol=0, atol=1e-5, msg=message)


def ragged_run(folder: Path, batch_size: int = 16) -> None:
    """See that each process keeps its own sums; train on sequences of very different lengths."""
    accelerator = Accelerator()
    before, after = RunningLoss(accelerator), RunningLoss(accelerator)
    tokens = 1 + 9 * accelerator.process_index
    before.add(torch.full((1, tokens), float(tokens)), torch.zeros(1, tokens))
    after.load_state_dict(before.state_dict())
    assert torch.equal(after.unread, torch.tensor([tokens**2, tokens]).float()), "sums got mixed up"
    expected = {1: 1.0, 2: (1 + 100) / 11}[accelerator.num_processes]
    assert after.read() == pytest.approx(expected), "the mean is over tokens"
    fakes = {"build_model": build_exact_model, "build_optimizer": build_sgd}
    with mock.patch.multiple(train, **fakes, build_loaders=build_ragged_loaders):
        run(folder, epochs=1, batch_size=batch_size, learning_rate=0.03)


def build_ragged_loaders(config, seen: list | None = None) -> tuple[DataLoader, ...]:
    """The loaders, with sequences of 1 token up to their whole length, by their first token."""
    loaders = build_loaders(config)
    collate = loaders[0].collate_fn

    def shorten(samples):
        *inputs, targets = collate(samples)
        length = targets.shape[1]
        beyond = torch.arange(length) > targets[:, :1] % length
        batch = (*inputs, targets.masked_fill(beyond, IGNORED))
        if seen is not None:
            seen.append(batch)
        return batch

    loaders[0].collate_fn = shorten
    return loaders
