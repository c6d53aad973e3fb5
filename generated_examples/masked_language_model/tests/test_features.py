"""The features of this project."""

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from matplotlib.figure import Figure
from safetensors.torch import load_file, load_model
from torch.utils.data import DataLoader

import train
from callbacks import LearningCurves, Throughput
from data import (
    Block,
    Blocks,
    NewMasks,
    build_datasets,
    build_loaders,
    build_tokenizer,
    mask_and_pad,
    mask_tokens,
)
from helpers import SETTINGS, build_exact_model, build_sgd, column, launch, run
from metrics import IGNORED, Progress, RunningLoss
from test_resume import last_checkpoint


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
            changes = {"epochs": 1, "limit_batches": 1, "num_workers": 0}
            run(tmp_path / name, learning_rate=rate, **changes)
            weights[name] = load_file(tmp_path / name / "model.safetensors")
    logged = float(column(capsys.readouterr().out, "loss")[-1])

    config, start = train.Config(**SETTINGS), tmp_path / "start" / "model.safetensors"
    model = build_exact_model(config)
    load_model(model, start)
    parameters = model.named_parameters()
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


def test_a_share_of_the_tokens_has_a_target():
    """80 % of them are masked, 10 % are random, and 10 % stay. Other tokens have no target."""
    config = train.Config(**SETTINGS)
    tokenizer, kinds, known = build_tokenizer(config), torch.zeros(3), torch.zeros(2)
    for block in build_datasets(config)[0]:
        inputs, targets = mask_tokens(block, config)
        chosen, free = targets != IGNORED, int((block.words >= 0).sum())
        assert int(chosen.sum()) == max(1, round(config.mask_rate * free)) or config.whole_words
        assert torch.equal(targets[chosen], block.tokens[chosen])
        assert torch.equal(inputs[~chosen], block.tokens[~chosen])
        assert not chosen[block.words < 0].any(), "a special token has a target"
        masked, same = inputs[chosen] == tokenizer.mask, inputs[chosen] == targets[chosen]
        kinds += torch.tensor([masked.sum(), (~masked & ~same).sum(), (~masked & same).sum()])
        known += torch.tensor([int(chosen.sum()), free])
        if kinds.sum() > 20_000:
            break
    assert kinds / kinds.sum() == pytest.approx(torch.tensor([0.8, 0.1, 0.1]), abs=0.04)
    assert float(known[0] / known[1]) == pytest.approx(config.mask_rate, abs=0.05)


def test_whole_words_are_masked_together():
    config = replace(train.Config(**SETTINGS), whole_words=True, mask_rate=0.5)
    tokens, words = torch.arange(5, 17), torch.tensor([-1, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3, -1])
    seen = set()
    for seed in range(50):
        chosen = mask_tokens(Block(tokens, words, seed), config)[1] != IGNORED
        found = {int(word) for word in words[chosen]}
        assert -1 not in found and int(chosen.sum()) >= 5
        assert all(bool(chosen[words == word].all()) for word in found)
        seen |= found
    assert seen == {0, 1, 2, 3}


def test_masks_are_fixed_in_evaluation_and_new_in_each_epoch_of_training():
    config = train.Config(**SETTINGS)
    _, val_loader, _ = train.build_loaders(config)
    first, again = ([part for batch in val_loader for part in batch] for _ in range(2))
    assert all(map(torch.equal, first, again))
    data = NewMasks(build_datasets(config)[0], config)

    def draw(epoch: int, indices) -> list[list[int]]:
        data.set_epoch(epoch)
        return [mask_tokens(data[index], config)[1].tolist() for index in indices]

    one = draw(0, range(8))
    assert draw(1, range(8)) != one, "an epoch has the masks of another one"
    assert draw(0, reversed(range(8)))[::-1] == one, "masks depend on the order of the blocks"
    other = NewMasks(build_datasets(config)[0], replace(config, seed=config.seed + 1))
    assert [mask_tokens(other[index], config)[1].tolist() for index in range(8)] != one


def test_every_token_of_a_document_is_in_one_block():
    config = replace(train.Config(**SETTINGS), max_length=16)
    text = "for line in file:\n    print(line)\n"
    blocks = Blocks([text, "", "pass"], "training", config)
    parts = [build_tokenizer(config).decode(block.tokens.tolist()) for block in blocks]
    assert "".join("".join(parts).split()).lower() == "".join(f"{text}pass".split())
    assert max(len(block.tokens) for block in blocks) == 16
    with pytest.raises(SystemExit, match="The test data has no text"):
        Blocks([""], "test", config)


def test_padding_does_not_change_a_block():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    short, long = Blocks(["a", "a longer document"], "training", config)
    with torch.no_grad():
        parts = (mask_and_pad(part, config)[:2] for part in ([short], [short, long]))
        alone, together = (model(*part) for part in parts)
    size = len(short.tokens)
    torch.testing.assert_close(together[0, :size], alone[0, :size], rtol=0, atol=1e-5)


def weights_after(folder: Path, rate: float, **limit) -> torch.Tensor:
    """The weights after one step of `rate` times the gradient."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        run(folder, epochs=1, max_steps=1, learning_rate=rate, **limit)
    tensors = load_file(folder / "model.safetensors")
    return torch.cat([tensor.flatten() for tensor in tensors.values()])


def test_clips_the_gradient_of_the_whole_step(tmp_path):
    """A clipped step has the direction of the unclipped step, scaled down to the limit."""
    start = weights_after(tmp_path / "start", 1e-12)
    gradient = weights_after(tmp_path / "free", 1.0) - start
    norm = float(gradient.norm())
    limit = min(0.01, norm / 2)
    clipped = weights_after(tmp_path / "clipped", 1.0, max_grad_norm=limit)
    expected = start + gradient * limit / norm
    message = "clip once, after the last backward"
    torch.testing.assert_close(clipped, expected, rtol=0, atol=1e-6, msg=message)


def test_metrics_file_has_each_log_line(tmp_path):
    run(tmp_path, epochs=1)
    lines = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    found = [(line["step"], "lr" in line) for line in lines if "loss" in line]
    assert found == [(step, True) for step in range(1, 7)]


def test_metrics_of_a_run_resumed_in_another_folder(tmp_path):
    first = last_checkpoint(run(tmp_path / "one", epochs=1))
    run(tmp_path / "two", epochs=2, resume=str(first))
    lines = (tmp_path / "one" / "metrics.jsonl").read_text().splitlines()[:-1]  # but the test's
    resumed = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    assert resumed[: len(lines)] == lines and len(resumed) > len(lines) + 1
    steps = [json.loads(line)["step"] for line in resumed]
    assert steps == sorted(steps)


def test_learning_curves_show_all_metrics(tmp_path, monkeypatch):
    """Each metric has a panel, with a curve in its own color for each set."""
    source, target = tmp_path / "metrics.jsonl", tmp_path / "curves.png"
    lines = [
        {"step": 2, "loss": 2.5, "lr": 0.1},
        {"step": 4, "train_loss": 2.0, "val_loss": 3.0, "val_exact_match": 0.1},
        {"step": 8, "train_loss": 1.0, "val_loss": 2.0, "val_exact_match": 0.2},
        {"step": 8, "test_loss": 2.5},
    ]
    source.write_text("\n".join(map(json.dumps, lines)))
    drawn, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda fig, path: [drawn.append(fig), save(fig, path)])
    LearningCurves(source, target).draw()
    found = {
        axes.get_ylabel(): {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
        for axes in drawn[0].axes
    }
    assert found == {
        "loss": {
            "loss": [[2, 2.5]],
            "train_loss": [[4, 2.0], [8, 1.0]],
            "val_loss": [[4, 3.0], [8, 2.0]],
            "test_loss": [[8, 2.5]],
        },
        "exact_match": {"val_exact_match": [[4, 0.1], [8, 0.2]]},
        "lr": {"lr": [[2, 0.1]]},
    }
    colors = {(line.get_label()[:3], line.get_color()) for ax in drawn[0].axes for line in ax.lines}
    assert {("tra", "C0"), ("val", "C1"), ("tes", "C2")} < colors
    assert len(colors) == 5, "one color for each set, and gray for the values of steps"
    assert target.read_bytes().startswith(b"\x89PNG")


def test_learning_curves_are_drawn(tmp_path):
    run(tmp_path, epochs=1)
    assert (tmp_path / "curves.png").exists()


def test_a_run_survives_curves_that_cannot_be_drawn(tmp_path, monkeypatch, capsys):
    def fail(*_) -> None:
        raise ValueError("no canvas")

    monkeypatch.setattr(Figure, "savefig", fail)
    run(tmp_path, epochs=1)
    assert "was not drawn: ValueError('no canvas')" in capsys.readouterr().out
    assert (tmp_path / "model.safetensors").exists()


def scheduled_rates(steps: int, **changes) -> list[float]:
    """The learning rate of each step of a run, as a fraction of the full rate."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(()))], lr=1.0)
    schedule, rates = train.build_schedule(optimizer, steps, train.Config(**changes)), []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return rates


def test_each_step_has_its_learning_rate(tmp_path, monkeypatch):
    build, found = train.build_optimizer, []

    def build_and_note(model, config):
        optimizer, rates = build(model, config), []
        found.append(rates)

        def note(optimizer, *_) -> None:
            rates.extend(group["lr"] / group["initial_lr"] for group in optimizer.param_groups[:1])

        optimizer.register_step_pre_hook(note)
        return optimizer

    monkeypatch.setattr(train, "build_optimizer", build_and_note)
    run(tmp_path)
    assert found, "nothing was tested"
    for rates in found:
        assert rates == pytest.approx(scheduled_rates(12)), "step the schedule once for each step"


def test_groups_keep_their_own_rates():
    """A group with half the learning rate keeps half the rate at every step."""
    weights = [torch.nn.Parameter(torch.zeros(())) for _ in range(2)]
    groups = [{"params": [weight], "lr": lr} for weight, lr in zip(weights, (1, 0.5), strict=True)]
    optimizer = torch.optim.SGD(groups)
    schedule = train.build_schedule(optimizer, 100, train.Config())
    for _ in range(20):
        optimizer.step()
        schedule.step()
    one, other = [group["lr"] for group in optimizer.param_groups]
    assert one > 0 and other == pytest.approx(one / 2)


def test_schedule_runs_its_course():
    rates = scheduled_rates(100, warmup_ratio=0.1)
    assert max(rates) == pytest.approx(1.0), "it reaches the full rate"
    assert rates[-1] < 0.02 * max(rates), "half a cosine ends near zero"


def test_speed_and_time_left():
    """64 tokens in the 4 seconds since the epoch began; 2 steps in 12 seconds, 3 to go."""
    accelerator, progress = Accelerator(), Progress(step=5)  # as after a resume
    train_loss = RunningLoss(accelerator)
    with mock.patch("callbacks.time") as clock:
        clock.monotonic.side_effect = [0, 8, 12]
        throughput = Throughput(accelerator, train_loss, progress, total_steps=10)
        train_loss.add(torch.ones(2, 16), torch.zeros(2, 16))  # before the checkpoint
        throughput.start_epoch()
        train_loss.add(torch.ones(4, 16), torch.zeros(4, 16))
        train_loss.read()
        progress.step = 7
        line = throughput.read()
    assert line.startswith("speed 16 tokens/s | 0:00:18 left | "), line


def test_speed_follows_each_log_line(tmp_path, capsys):
    run(tmp_path, log_every=2)
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert lines.count("speed") == lines.count("step") == 6
