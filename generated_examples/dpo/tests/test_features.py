"""The features of this project."""

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate import Accelerator
from matplotlib.figure import Figure
from safetensors.torch import load_file
from torch.utils.data import DataLoader

import train
from callbacks import LearningCurves, Throughput, write_sample
from data import Pair, Pairs, build_loaders, collate, encode_prompt, find_ends, read_pair, show
from helpers import SETTINGS, build_exact_model, build_sgd, run
from metrics import IGNORED, Progress, RunningLoss
from model import build_model, build_tokenizer
from reference import ROUNDING, Reference, answer_log_probs, find_gaps
from test_resume import last_checkpoint

TURNS = [("user", "sort cab"), ("assistant", "abc"), ("user", "add 1 to 2"), ("assistant", "3")]
MESSAGES = [{"role": role, "content": content} for role, content in TURNS]


def make_pairs(config, *conversations, wrong: str = "4") -> Pairs:
    """Pairs of conversations that only differ in the last answer."""
    pairs = [
        Pair(chat, [*chat[:-1], {"role": "assistant", "content": wrong}], "here")
        for chat in conversations
    ]
    return Pairs(pairs, config, Reference(config))


def test_only_the_last_answers_count():
    """Each with the token that ends it, and not the answer of an earlier turn."""
    config = train.Config(**SETTINGS)
    tokenizer, [sample] = build_tokenizer(config), make_pairs(config, MESSAGES)
    for (inputs, targets), answer in zip(sample[:2], ("3", "4"), strict=True):
        counted = targets[targets != IGNORED].tolist()
        text = tokenizer.decode(counted)  # perhaps with what the chat template adds to an answer
        assert text.endswith(answer) and "abc" not in text and "add" not in text
        assert sum(token in find_ends(config) for token in counted) == 1, "it must learn to stop"
        later = targets[:-1] != IGNORED
        assert torch.equal(inputs[1:][later], targets[:-1][later]), "a target is the next token"
        assert show((inputs, targets), config).count("[[") == 1
    prompt = encode_prompt(MESSAGES[:3], config)
    assert sample[0][0][: len(prompt)].tolist() == prompt, "predict.py would differ"


def test_log_probabilities_are_those_of_single_answers():
    """For any padding, and without the prompt: by the chain rule, token by token."""
    config = train.Config(**SETTINGS)
    model = build_exact_model(config).eval()
    samples = list(make_pairs(config, MESSAGES, MESSAGES[:2], wrong="a longer answer"))
    inputs, targets, *_ = collate(samples)
    assert inputs.shape == targets.shape and inputs.shape[:2] == (2, 2)
    found = answer_log_probs(model, inputs, targets)
    for row, sample in zip(found, samples, strict=True):
        for value, (tokens, nexts) in zip(row, sample[:-2], strict=True):
            logits = model(tokens[None])[0].log_softmax(dim=-1)
            steps = [logits[i, t] for i, t in enumerate(nexts.tolist()) if t != IGNORED]
            expected = sum(steps)
            torch.testing.assert_close(value, expected, rtol=0, atol=1e-4)


def test_the_reference_is_the_model_before_training():
    """In evaluation mode, the same for any order of pairs, and fixed while the model trains."""
    config = train.Config(**SETTINGS)
    torch.manual_seed(config.seed)
    numbers = torch.get_rng_state()
    loader = build_loaders(config)[1]
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different weights"
    model = build_model(config).eval()
    inputs, targets, reference, beta = next(iter(loader))
    found = answer_log_probs(model, inputs, targets)
    torch.testing.assert_close(found, reference, rtol=0, atol=1e-3)
    assert not reference.requires_grad and beta.unique().tolist() == [pytest.approx(config.beta)]
    metrics = train.evaluate(Accelerator(), model, loader, "val", 1)
    gap = torch.zeros(1)
    expected = train.compute_loss(gap, torch.full_like(gap, config.beta)).item()
    assert metrics["val_loss"] == pytest.approx(expected, rel=1e-3)
    assert metrics["val_reward_accuracy"] == 0, "rounding errors are not a preference"


def test_rewards_tell_answers_apart():
    """While a model learns which of two answers is right: the metrics, from their definition."""
    config = train.Config(**SETTINGS)
    model = build_exact_model(config)
    chats = [[{"role": "user", "content": text}, MESSAGES[1]] for text in "abcdefgh"]
    data = make_pairs(config, *chats, wrong="cba")
    loader = DataLoader(data, 3, collate_fn=collate)
    inputs, targets, reference, beta = collate(list(data))
    optimizer, accelerator = torch.optim.Adam(model.parameters(), 0.003), Accelerator()
    for _ in range(20):
        log_probs = answer_log_probs(model, inputs, targets)
        metrics = train.evaluate(accelerator, model, loader, "val")
        rewards = config.beta * (log_probs - reference)
        margins = rewards[:, 0] - rewards[:, 1]
        assert metrics["val_reward_margin"] == pytest.approx(margins.mean().item(), abs=1e-4)
        assert metrics["val_reward_accuracy"] == (margins > ROUNDING).sum() / 8
        train.compute_loss(find_gaps(log_probs, reference), beta).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert metrics["val_reward_accuracy"] == 1, "it never learned them"


def test_what_is_cut_off_is_counted(capsys):
    """Of three pairs that are too long, one has no answers left, and one the same answers."""
    config = train.Config(**SETTINGS)
    [sample] = make_pairs(config, MESSAGES)
    config = replace(config, context=len(sample[0][0]) - 1)
    late = [{"role": "user", "content": "x" * 500}, MESSAGES[1]]
    same = [MESSAGES[0], {"role": "assistant", "content": "4"}]
    assert len(make_pairs(config, MESSAGES, late, same)) == 1
    said = capsys.readouterr().out
    assert "3 pairs: " in said and "2 without two different answers" in said


ANSWERS = {"chosen": "b", "rejected": "c"}


def test_forms_of_a_row():
    """Texts, messages, and whole conversations, with or without a separate prompt."""
    asked = {"role": "user", "content": "a"}
    one, other = ({"role": "assistant", "content": text} for text in "bc")
    whole = {"chosen": [asked, one], "rejected": [asked, other]}
    for row in (
        {"prompt": "a", **ANSWERS},
        {"prompt": [asked], "chosen": [one], "rejected": [other]},
        {"prompt": "a", **whole},
        whole,
    ):
        assert read_pair(row, "here") == Pair([asked, one], [asked, other], "here")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "a"}, "has text: it needs prompt, chosen and rejected"),
        ({"prompt": "a", "chosen": "b", "rejected": None}, "prompt and rejected must be texts or"),
        ({"prompt": 1, **ANSWERS}, "prompt and chosen must be texts or"),
        ({"prompt": [{"role": "user"}], **ANSWERS}, "message 1 needs a role and a content"),
        (ANSWERS, "has no prompt"),
        ({"prompt": "a", "chosen": [], "rejected": []}, "does not end with an assistant message"),
        ({"chosen": MESSAGES, "rejected": MESSAGES[:2]}, "answer different prompts"),
    ],
)
def test_a_wrong_row_is_named(row, said):
    with pytest.raises(SystemExit, match="pairs.jsonl, line 3.*") as error:
        read_pair(row, "pairs.jsonl, line 3")
    assert said in str(error.value)


def test_writing_a_sample_does_not_change_training(tmp_path):
    config = train.Config(**SETTINGS)
    model, examples = build_model(config), [make_pairs(config, MESSAGES)[0][0]]
    numbers = torch.get_rng_state()
    write_sample(model, config, examples, tmp_path / "sample.txt", length=4)
    assert torch.equal(torch.get_rng_state(), numbers), "training would get different dropout"
    assert model.training
    written = (tmp_path / "sample.txt").read_text(encoding="utf-8")
    assert "sort cab" in written and "\ndata:  " in written and "\nmodel: " in written


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
    """64 samples in the 4 seconds since the epoch began; 2 steps in 12 seconds, 3 to go."""
    accelerator, progress = Accelerator(), Progress(step=5)  # as after a resume
    train_loss = RunningLoss(accelerator)
    with mock.patch("callbacks.time") as clock:
        clock.monotonic.side_effect = [0, 8, 12]
        throughput = Throughput(accelerator, train_loss, progress, total_steps=10)
        train_loss.add(torch.tensor(1.0), 32)  # before the checkpoint
        throughput.start_epoch()
        train_loss.add(torch.tensor(1.0), 64)
        train_loss.read()
        progress.step = 7
        line = throughput.read()
    assert line.startswith("speed 16 samples/s | 0:00:18 left | "), line


def test_speed_follows_each_log_line(tmp_path, capsys):
    run(tmp_path, log_every=2)
    lines = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert lines.count("speed") == lines.count("step") == 6
