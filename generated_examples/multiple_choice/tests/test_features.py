"""The features of this project."""

import json
from pathlib import Path
from unittest import mock

import pytest
import torch
from matplotlib.figure import Figure
from safetensors.torch import load_file

import train
from callbacks import LearningCurves
from data import Question, build_datasets, collate, encode_questions, load_questions, read_question
from helpers import SETTINGS, build_exact_model, build_sgd, run
from metrics import hide_padding
from test_resume import last_checkpoint

QUESTIONS = [
    Question("Ann sings.", ("Bo too.", "It rains."), 1),
    Question("It rained all week.", ("Bo", "Ann left the house.", "Everybody", "Nobody came."), 2),
]


def test_each_choice_follows_its_text():
    """The first token of a choice is where its text ends, and no row is too long."""
    config = train.Config(**SETTINGS)
    for questions, samples in zip(load_questions(config), build_datasets(config), strict=True):
        for question, sample in zip(questions[:100], samples, strict=False):
            assert len(sample.choices) == len(question.choices)
            assert sample.label == question.label
            (one, start), (other, place) = sample.choices[:2]
            if max(len(one), len(other)) < config.max_length:  # neither is cut
                assert place == start and torch.equal(one[:start], other[:place])
            assert all(first < len(tokens) for tokens, first in sample.choices)
            assert max(len(tokens) for tokens, _ in sample.choices) <= config.max_length


def test_padding_changes_nothing():
    """Neither longer rows nor more choices: the scores, the loss and its gradients."""
    config = train.Config(**SETTINGS)
    samples = encode_questions(QUESTIONS, config)
    found = {}
    for name, batches in {"alone": [samples[:1], samples[1:]], "together": [samples]}.items():
        torch.manual_seed(0)
        model, losses = build_exact_model(config).eval(), []
        for batch in batches:
            *inputs, labels = collate(batch)
            losses.append(train.compute_loss(model(*inputs), inputs[1], labels))
        torch.cat(losses).sum().backward()
        weights = [weight.grad for weight in model.parameters() if weight.grad is not None]
        found[name] = [torch.cat(losses).detach(), *weights]
    for one, other in zip(*found.values(), strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(other, one, rtol=0, atol=1e-5)


def test_padded_choices_are_never_chosen():
    *inputs, _ = collate(encode_questions(QUESTIONS, train.Config(**SETTINGS)))
    scores = torch.tensor([[1.0, 2.0, 9.0, 9.0], [1.0, 2.0, 3.0, 4.0]])
    hidden = hide_padding(scores, inputs[1])
    assert hidden.argmax(dim=1).tolist() == [1, 3]
    assert hidden.softmax(dim=1)[0, 2:].tolist() == [0.0, 0.0]


def test_rows_are_read_in_both_formats():
    swag = {"sent1": "Ann sings.", "sent2": "She", "ending0": "eats", "ending1": "runs"}
    expected = Question("Ann sings.", ("She eats", "She runs"), 1)
    assert read_question({**swag, "ending2": "", "label": "1"}, "here") == expected
    plain = {"context": "Ann sings.", "choices": ["She eats", "She runs"], "label": 1}
    assert read_question(plain, "here") == expected
    with pytest.raises(SystemExit, match="here: its label is 2, not one of 0 to 1"):
        read_question({**plain, "label": 2}, "here")


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
