"""The features of this project."""

import json
from pathlib import Path
from unittest import mock

import pytest
import torch
from matplotlib.figure import Figure
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import train
from callbacks import LearningCurves
from data import build_datasets, build_tokenizer, collate
from helpers import SETTINGS, build_exact_model, build_sgd, run
from metrics import classification_scores, confusion_matrix
from model import build_model
from test_resume import last_checkpoint


def test_texts_are_padded():
    """Padding is masked: a text gives the same logits alone and next to a longer one."""
    config = train.Config(**SETTINGS)
    tokenizer, model = build_tokenizer(config), build_model(config).eval()
    columns = len(build_datasets(config)[0][0][0])
    rows = [(columns * [text], 0) for text in ("a", "a b")]
    small, large = (collate(part, tokenizer, config.max_length) for part in (rows[:1], rows))
    assert small["attention_mask"].all(), "a batch is longer than its longest text"
    assert not large["attention_mask"].all(), "texts of different lengths need padding"
    with torch.no_grad():
        alone, beside = model(**small).logits, model(**large).logits[:1]
    torch.testing.assert_close(alone, beside, rtol=0, atol=1e-5)


def test_from_pretrained_loads_the_folder_of_a_run(tmp_path):
    folder = run(tmp_path, epochs=1) / "transformers"
    text = "a text of a few words"
    tokens = AutoTokenizer.from_pretrained(folder)(text)
    assert dict(tokens) == dict(build_tokenizer(train.Config(**SETTINGS))(text))
    state = AutoModelForSequenceClassification.from_pretrained(folder).state_dict()
    for name, weights in load_file(tmp_path / "model.safetensors").items():
        assert torch.equal(state[name], weights), f"{name} differs after from_pretrained"


def test_scores_are_those_of_the_whole_set():
    """The counts of 2 batches add up to scores that were computed by hand."""
    labels, predictions = torch.tensor([0, 0, 0, 1, 1, 2]), torch.tensor([0, 0, 1, 1, 1, 0])
    confusion = sum(
        confusion_matrix(predictions[part], labels[part], classes=4)
        for part in (slice(0, 4), slice(4, 6))
    )
    scores = classification_scores(confusion)
    assert scores["accuracy"] == pytest.approx(4 / 6)
    # class 0: precision 2/3, recall 2/3; class 1: 2/3 and 1; class 2: 0; class 3 does not occur
    assert scores["f1"] == pytest.approx((2 / 3 + 4 / 5 + 0) / 3)
    true, predicted = (3, 2, 1), (3, 3, 0)
    covariance = 6 * 4 - (9 + 6 + 0)
    spread = ((36 - sum(n**2 for n in true)) * (36 - sum(n**2 for n in predicted))) ** 0.5
    assert scores["matthews"] == pytest.approx(covariance / spread)
    assert classification_scores(torch.tensor([[3, 0], [0, 0]]))["matthews"] == 0.0


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
