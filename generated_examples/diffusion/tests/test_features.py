"""The features of this project."""

import json
from pathlib import Path
from unittest import mock

import pytest
import torch
from matplotlib.figure import Figure
from PIL import Image
from safetensors.torch import load_file
from torch import nn

import train
from callbacks import Ema, LearningCurves
from data import build_loaders, image_shape
from diffusion import add_noise, find_targets, fixed_noise, sample
from distance import Moments, frechet_distance
from helpers import SETTINGS, build_exact_model, build_sgd, run
from test_resume import last_checkpoint


def test_distance_of_known_moments():
    """Of equal pixels with means 0 and 3 and standard deviations 1 and 2: (3 - 0)² + (2 - 1)²."""
    one, other = Moments(), Moments()
    for value in (-1.0, 1.0):  # moments of several batches add up
        one.add(torch.full((1, 1, 8, 8), value))
        other.add(torch.full((1, 1, 8, 8), 3 + 2 * value))
    assert frechet_distance(one, other) == pytest.approx(64 * 10.0)
    assert frechet_distance(one, one) == pytest.approx(0.0, abs=1e-9)


def test_training_has_new_noise_in_each_epoch_and_evaluation_has_not():
    config = train.Config(**SETTINGS)
    train_set, val_set, _ = (loader.dataset for loader in build_loaders(config))

    def find_noise(data) -> list[float]:
        rows = [data[row] for row in range(min(5, len(data)))]
        return [float(value) for _, noise, time, *_ in rows for value in (noise.sum(), time)]

    first, fixed = find_noise(train_set), find_noise(val_set)
    assert len({*first}) > 5, "all images have the same noise"
    train_set.set_epoch(1)
    assert not {*find_noise(train_set)} & {*first[::2]}, "two epochs have the same noise"
    train_set.set_epoch(0)
    assert find_noise(train_set) == first, "a resumed run has different noise"
    assert find_noise(val_set) == fixed


def test_a_model_that_knows_an_image_generates_it():
    shape = image_shape(train.Config(**SETTINGS))
    image = torch.rand(1, *shape, generator=torch.Generator().manual_seed(0))

    class Knowing(nn.Module):
        def forward(self, noisy, times, *labels):
            known = (2 * image - 1).expand_as(noisy)
            still = add_noise(known, torch.zeros_like(noisy), times)
            spread = add_noise(torch.zeros_like(noisy), torch.ones_like(noisy), times)
            return find_targets(known, (noisy - still) / spread, times)

    for steps in (1, 7, 100):
        images = sample(Knowing(), fixed_noise([0, 1], shape), steps=steps)
        torch.testing.assert_close(images, image.expand_as(images), rtol=0, atol=1e-4)


def test_samples_are_drawn_after_each_evaluation(tmp_path):
    run(tmp_path)
    height, width = image_shape(train.Config(**SETTINGS))[1:]
    pictures = sorted(tmp_path.glob("samples_*.png"))
    assert pictures[-1].name == "samples_00000012.png", "they have the number of their step"
    for path in pictures:
        with Image.open(path) as picture:
            assert picture.width * 4 * (height + 2) == picture.height * 16 * (width + 2)


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


def test_ema_averages_every_step():
    model = nn.Linear(1, 1, bias=False)
    ema = Ema(model, decay=0.25)
    for value in (1.0, 2.0, 3.0):
        nn.init.constant_(model.weight, value)
        ema.update()
    with ema.applied():
        # less of the average remains than decay says: 3/12 after 2 steps, then 0.25
        assert model.weight.item() == pytest.approx(0.25 * (0.25 * 1 + 0.75 * 2) + 0.75 * 3)
    assert model.weight.item() == 3.0, "training continues with the model's own weights"


def test_ema_is_what_is_kept(tmp_path, monkeypatch):
    created = []

    def create(model: nn.Module, decay: float) -> Ema:
        created.append((model, Ema(model, decay)))
        return created[0][1]

    monkeypatch.setattr(train, "Ema", create)
    run(tmp_path, epochs=1)
    model, ema = created[0]
    assert ema.steps == 6, "average the weights after each step"
    own = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    kept = load_file(tmp_path / "model.safetensors")
    with ema.applied():
        for name, weight in model.named_parameters():
            if name in kept:  # of shared weights, one name is saved
                torch.testing.assert_close(kept[name], weight.detach(), msg="save the average")
    names = own.keys() & kept.keys()
    assert not all(torch.equal(own[name], kept[name]) for name in names), "these are not averages"


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
