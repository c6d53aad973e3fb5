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
from boxes import DETECTIONS, STRIDE, find_centers, find_objects, iou, suppress
from callbacks import LearningCurves
from data import build_datasets, build_loaders, collate
from helpers import SETTINGS, build_exact_model, build_sgd, run
from loss import assign, generalized_iou
from metrics import count_objects, detection_scores, judge
from model import build_model
from test_resume import last_checkpoint


def objects(*rows: tuple) -> dict[str, torch.Tensor]:
    """Objects of an image: boxes, a class, and whether it is a crowd."""
    return {
        "boxes": torch.tensor([row[:4] for row in rows]).float().reshape(-1, 4),
        "labels": torch.tensor([row[4] for row in rows]).long(),
        "crowd": torch.tensor([len(row) > 5 for row in rows]).bool(),
    }


def found(*rows: tuple) -> torch.Tensor:
    """Detections of an image: boxes, a score and a class."""
    missing = [(0,) * 6] * (DETECTIONS - len(rows))
    return torch.tensor([*rows, *missing]).float()


def test_iou():
    boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [2.0, 0.0, 6.0, 4.0], [5.0, 5.0, 6.0, 6.0]])
    expected = torch.tensor([[1, 1 / 3, 0], [1 / 3, 1, 0], [0, 0, 1]])
    torch.testing.assert_close(iou(boxes.unsqueeze(1), boxes), expected)


def test_each_object_is_found_once():
    """By the detection with the highest score. Any number of detections may find a crowd."""
    boxes = found(
        (0, 0, 10, 10, 0.9, 0),  # the first object
        (0, 0, 10, 9, 0.8, 0),  # the same one again
        (0, 0, 10, 10, 0.7, 1),  # another class
        (21, 20, 30, 30, 0.6, 0),  # the second object, up to an IoU of 0.9
        (50, 50, 60, 60, 0.5, 0),  # the crowd
        (52, 52, 70, 60, 0.4, 0),  # the crowd
        (20, 20, 30, 30, 0.0, 0),  # the second object, but taken out
    )
    image = objects((0, 0, 10, 10, 0), (20, 20, 30, 30, 0), (50, 50, 90, 90, 0, "crowd"))
    [rows] = judge(boxes.unsqueeze(0), [image])
    assert rows[:6, 2].tolist() == [1, 0, 0, 1, -1, -1]
    assert rows[3, 2:].tolist() == 9 * [1] + [0]
    assert set(rows[6:, 2:].flatten().tolist()) == {-1}
    assert count_objects([image, objects()], 2).tolist() == [[2, 0], [0, 0]]


def test_average_precision_is_that_of_all_images():
    """Counted by hand: of the first class, two of three objects, after a wrong detection."""
    images = [objects((0, 0, 9, 9, 0), (20, 20, 29, 29, 0)), objects(), objects((0, 0, 9, 9, 0))]
    boxes = [
        found((0, 0, 9, 9, 0.9, 0), (20, 20, 29, 29, 0.5, 0)),
        found((0, 0, 9, 9, 0.7, 0)),
        found((0, 0, 9, 9, 0.8, 1)),  # of a class that has no object
    ]
    judged = torch.cat([judge(b[None], [i]) for b, i in zip(boxes, images, strict=True)])
    scores = detection_scores(judged, count_objects(images, 2))
    # a precision of 1 up to a recall of 1/3 (34 of 101 places), of 2/3 up to 2/3 (33 places)
    expected = (34 + 33 * 2 / 3) / 101
    assert all(abs(value - expected) < 1e-9 for value in scores.values())
    nothing = detection_scores(judged, torch.zeros(3, 2, dtype=torch.long))
    assert set(nothing.values()) == {-1.0}, "as in the COCO tools"


def test_boxes_are_in_their_images():
    for image, target in map(build_datasets(train.Config(**SETTINGS))[0].__getitem__, range(20)):
        assert image.min() >= 0 and image.max() <= 1
        boxes = target["boxes"]
        assert boxes.shape == (len(target["labels"]), 4)
        assert (boxes[:, :2] < boxes[:, 2:]).all()
        assert (boxes >= 0).all() and (boxes <= image.shape[-1]).all()


def test_pictures_are_drawn(tmp_path):
    run(tmp_path, epochs=1, max_steps=1)
    [path] = tmp_path.glob("boxes_*.png")
    picture = Image.open(path)
    assert picture.width % (picture.height // 2) == 0


def test_images_without_objects_are_learned_too():
    config = train.Config(**SETTINGS)
    image = build_loaders(config)[0].dataset[0][0]
    images, targets = collate([(image, objects()), (image, objects((4, 4, 20, 20, 0)))])
    outputs = build_model(config)(images)
    losses = train.compute_loss(outputs, targets)
    losses.sum().backward()
    assert torch.isfinite(losses).all() and (losses > 0).all()
    alone = train.compute_loss(outputs[:1], targets[:1])
    torch.testing.assert_close(alone[0], losses[0], msg="the loss depends on the other images")


def test_boxes_that_overlap_a_better_one_are_removed():
    """One after the other, of all classes and sizes, as if there were no other image."""
    rng = torch.Generator().manual_seed(0)
    corners = 40 * torch.rand(3, 60, 2, generator=rng)
    boxes = torch.cat([corners, corners + 5 + 30 * torch.rand(3, 60, 2, generator=rng)], dim=2)
    labels = torch.randint(2, (3, 60), generator=rng)
    for image, classes, stays in zip(boxes, labels, suppress(boxes, labels), strict=True):
        kept = []
        for place in range(60):
            same = [other for other in kept if classes[other] == classes[place]]
            if all(iou(image[other], image[place]) <= 0.6 for other in same):
                kept.append(place)
        assert stays.nonzero().flatten().tolist() == kept
        assert 2 < len(kept) < 60


def test_detections_are_sorted_by_score():
    outputs = torch.randn(2, 64, 7)
    outputs[..., 2:4] = outputs[..., :2] + 1
    found = find_objects(outputs)
    assert found.shape == (2, 100, 6)
    assert (found[:, 1:, 4] <= found[:, :-1, 4]).all()
    best = outputs[..., 4:].sigmoid().flatten(1).max(dim=1)
    torch.testing.assert_close(found[:, 0, 4], best.values)
    assert torch.equal(found[:, 0, 5], (best.indices % 3).float())


def test_the_places_of_an_object_are_at_its_center():
    boxes = torch.tensor([[0.0, 0.0, 32.0, 16.0], [14.0, 6.0, 18.0, 10.0]])
    places = assign(boxes[:1], 64)[0]
    distances = (find_centers(64, torch.device("cpu"))[places] - torch.tensor([16.0, 8.0])).abs()
    assert len(places) == 4 and (distances < 1.5 * STRIDE).all()
    assert assign(boxes, 64)[1].tolist() == 4 * [1], "the smaller object gets them"
    assert len(assign(boxes[:0], 64)[0]) == 0


def test_generalized_iou():
    box, other = torch.tensor([[0.0, 0.0, 2.0, 2.0]]), torch.tensor([[3.0, 0.0, 5.0, 2.0]])
    assert generalized_iou(box, box).item() == 1
    torch.testing.assert_close(generalized_iou(box, other), torch.tensor([-2 / 10]))


def weights_after(folder: Path, rate: float, **limit) -> torch.Tensor:
    """The weights after one step of `rate` times the gradient."""
    with mock.patch.multiple(train, build_model=build_exact_model, build_optimizer=build_sgd):
        rate *= 30  # of which build_sgd takes a thirtieth
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
