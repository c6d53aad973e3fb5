"""The features of this project."""

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
import torch
from matplotlib.figure import Figure
from safetensors.torch import load_file

import train
from callbacks import LearningCurves
from data import Question, build_datasets, collate, load_questions, make_windows
from helpers import SETTINGS, build_exact_model, build_sgd, run
from metrics import decide, find_spans, score_answer
from test_resume import last_checkpoint


def test_a_window_has_the_answer_at_its_place():
    """The words that its tokens stand for, up to parts of words."""
    config = train.Config(**SETTINGS)
    for windows in build_datasets(config):
        for window in windows[:100]:
            answers = [words for _, words in window.question.answers]
            if window.span != (0, 0):
                start, end = window.find(*window.span)
                assert any(words in window.question.context[start:end] for words in answers)
            assert len(window.tokens) <= config.max_length
            assert len(window.tokens) >= window.first + len(window.starts)


def test_questions_about_a_text_are_in_one_split():
    parts = load_questions(train.Config(**SETTINGS))
    texts = [{question.context for question in part} for part in parts]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]


def test_a_long_text_has_several_windows():
    """Every token is in a window, and an answer is in each window that contains all of it."""
    config = train.Config(**SETTINGS)
    context = "word " * config.max_length + "Bo " + "word " * config.max_length
    question = Question(context, "Who?", ((context.index("Bo"), "Bo"),))
    windows = make_windows([question], config, 7)
    assert len(windows) > 2 and {window.number for window in windows} == {7}
    assert max(len(window.tokens) for window in windows) == config.max_length
    covered = {
        place for window in windows for place in zip(window.starts, window.ends, strict=True)
    }
    assert len(covered) >= len(context.split())
    found = [window for window in windows if window.span != (0, 0)]
    assert found and all("Bo" in context[slice(*window.find(*window.span))] for window in found)


def test_padding_does_not_change_a_window():
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    questions = [
        Question("Bo sings.", "Who?"),
        Question("It rained all week. " * 3, "What rained?"),
    ]
    short, long = make_windows(questions, config)
    with torch.no_grad():
        alone, together = (model(*collate(part)[:3]) for part in ([short], [short, long]))
    size = len(short.tokens)
    torch.testing.assert_close(together[0, :size], alone[0, :size], rtol=0, atol=1e-5)
    mask, spans = torch.ones(1, size) > 0, torch.tensor([[1, 2]])
    expected = train.compute_loss(alone[:, :size], mask, spans)
    padded = torch.cat([alone[:, :size], torch.full((1, 3, 2), 9.0)], dim=1)
    mask = torch.cat([mask, torch.zeros(1, 3) > 0], dim=1)
    assert torch.equal(train.compute_loss(padded, mask, spans), expected)


def test_answers_are_compared_as_squad_does():
    """In words, without case, punctuation and articles, with the best of several references."""
    assert score_answer("The  Tower, of London!", ["tower of london"]) == (1, 6, 6)
    assert score_answer("in the tower", ["London", "the old tower"]) == (0, 2, 4)
    assert score_answer("", []) == score_answer("the", []) == (1, 1, 1)
    assert score_answer("tower", []) == score_answer("", ["tower"]) == (0, 0, 1)


def test_the_best_answer_is_in_the_text_and_not_too_long():
    """The highest logits are in padding, and of an answer with three tokens."""
    [window] = make_windows([Question("a b c d e", "Who?")], train.Config(**SETTINGS))
    first, logits = window.first, torch.zeros(1, len(window.tokens) + 2, 2)
    logits[0, first, 0], logits[0, -1] = 3, 9
    logits[0, first : first + 3, 1] = torch.tensor([0.0, 4.0, 5.0])
    logits[0, 0] = 2
    for longest, best, last in ((2, 7, first + 1), (3, 8, first + 2)):
        for optional, none in ((True, 4), (False, -torch.inf)):
            given = replace(window, longest=longest, optional=optional)
            score, span, other, _ = find_spans(logits, [given])
            assert (score.item(), other.item()) == (best, none)
            assert span.tolist() == [[first, last]]


def test_windows_of_a_question_are_decided_together():
    """Rows have the question, two scores, and how right the best answer and none are."""
    right, wrong, none = [1, 1, 1, 0, 0, 1], [0, 1, 2, 0, 0, 1], [0, 0, 1, 1, 1, 1]
    rows = [
        [4, 2.0, 1.0, *wrong],
        [7, 1.0, 5.0, *none],
        [4, 3.0, 9.0, *right],
        [7, 2.0, 3.0, *none],
    ]
    assert decide(torch.tensor(rows)).tolist() == [[1, 1], [1, 1]]
    rows[3][2] = 1.5  # in one window of the second question, an answer is more likely
    assert decide(torch.tensor(rows)).tolist() == [[1, 1], [0, 0]]
    assert decide(torch.tensor(rows[:1])).tolist() == [[0, 0.5]]


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
