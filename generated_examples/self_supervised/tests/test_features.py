"""The features of this project."""

import json
from pathlib import Path
from unittest import mock

import pytest
import torch
from matplotlib.figure import Figure
from PIL import Image
from safetensors.torch import load_file

import train
from callbacks import LearningCurves
from contrast import compare_views
from data import build_datasets, build_loaders, split_known
from helpers import SETTINGS, build_exact_model, build_sgd, run
from probe import find_right
from test_resume import last_checkpoint


def test_training_changes_in_each_epoch_and_evaluation_does_not():
    config = train.Config(**SETTINGS)
    train_set, val_set, _ = (loader.dataset for loader in build_loaders(config))

    def read(data, rows) -> list:
        return [data[row][1].tolist() for row in rows]

    first, fixed = read(train_set, range(8)), read(val_set, range(2))
    assert len({str(one) for one in first}) > 1, "all images have the same"
    train_set.set_epoch(1)
    assert read(train_set, range(8)) != first, "two epochs have the same"
    train_set.set_epoch(0)
    torch.rand(1)  # other random numbers in between, and another order
    assert read(train_set, reversed(range(8))) == first[::-1], "a resumed run differs"
    other = build_loaders(train.Config(**SETTINGS, seed=1))[1].dataset
    assert read(val_set, range(2)) == read(other, range(2)) == fixed


def test_the_loss_is_that_of_all_other_views():
    """Formula 1 of https://arxiv.org/abs/2002.05709, one view after the other."""
    vectors = torch.randn(5, 2, 3, dtype=torch.float64)
    views = [(image, view) for image in range(5) for view in range(2)]
    expected = []
    for image, view in views:
        others = [other for other in views if other != (image, view)]
        similar = torch.stack([vectors[image, view] @ vectors[other] for other in others])
        positive = similar[others.index((image, 1 - view))]
        expected.append(-(positive.exp() / similar.exp().sum()).log())
    expected = torch.stack(expected).reshape(5, 2).mean(dim=1)
    torch.testing.assert_close(compare_views(vectors, vectors, torch.arange(5)), expected)
    torch.testing.assert_close(train.compare_all(vectors), expected)


def test_both_views_are_drawn(tmp_path):
    data = build_loaders(train.Config(**SETTINGS))[0].dataset
    image, views = data[0]
    assert views.shape == (2, *image.shape)
    assert not torch.equal(views[0], views[1]) and not torch.equal(views[0], image)
    numbers = torch.get_rng_state()
    assert torch.equal(data[0][1], views) and torch.equal(torch.get_rng_state(), numbers)
    run(tmp_path, limit_batches=2, epochs=1)
    with Image.open(tmp_path / "views.png") as picture:
        assert picture.width > picture.height, "up to 16 images in three rows"


def test_probes_see_no_labels_of_new_images():
    """If features say nothing about classes, accuracy stays at chance level."""
    features, rng = torch.randn(400, 300), torch.Generator().manual_seed(0)
    labels = torch.randint(0, 4, (400,), generator=rng)
    known = torch.arange(400) < 200
    right = find_right(features, labels, known)
    others = find_right(features, torch.where(known, labels, 3 - labels), known)
    for probe in right:
        message = f"{probe} has seen the labels that it has to predict"
        assert right[probe].double().mean() < 0.4, message
        assert not (right[probe] & others[probe]).any(), "a prediction changed with its label"
    leaked = torch.cat([features[~known]] * 2), torch.cat([labels[~known]] * 2)
    leak = find_right(*leaked, known)  # with the answers among the known labels
    assert leak["linear"].double().mean() > 0.9, "this test would not see a leak"


def test_the_probes_only_know_training_images():
    config = train.Config(**SETTINGS)
    train_set, val_set, _ = build_datasets(config)
    known, others = split_known(train_set, config)
    assert len(known) + len(others) == len(train_set) and len(known) <= config.known
    assert not {*known.indices} & {*others.indices}
    data = build_loaders(config)[1].dataset
    samples = [data[row] for row in range(len(data))]
    for part, is_known in ((known, True), (val_set, False)):
        found = [(sample[0], int(sample[2])) for sample in samples if sample[3] == is_known]
        assert len(found) == len(part)
        for (image, label), expected in zip(found, part, strict=True):
            assert torch.equal(image, expected[0]) and label == int(expected[1])


def weights_after(folder: Path, rate: float, **limit) -> torch.Tensor:
    """The weights after one step of `rate` times the gradient."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        rate *= 10  # of which build_sgd takes a tenth
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
