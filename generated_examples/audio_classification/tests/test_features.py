"""The features of this project."""

import json
import wave
from math import pi
from pathlib import Path
from unittest import mock

import pytest
import torch
from accelerate.utils import set_seed
from matplotlib.figure import Figure
from PIL import Image
from safetensors.torch import load_file

import train
from audio import log_mel, measure_sound, mel_bands, read_sound, resample
from callbacks import LearningCurves
from data import build_datasets, class_names, prepare
from helpers import SETTINGS, build_exact_model, build_sgd, run
from model import build_model
from test_resume import last_checkpoint


def test_resampling_keeps_what_the_new_rate_can_represent():
    """A tone of 1 kHz stays as it is. A tone of 10 kHz would alias to 6 kHz at 16 kHz."""
    time = {rate: torch.arange(rate).double() / rate for rate in (16000, 44100)}
    low, high = ((2 * pi * hertz * time[44100]).sin() for hertz in (1000, 10000))
    found = resample(low, 44100, 16000)
    assert len(found) == 16000
    inner = slice(2000, -2000)  # a filter needs what is before and after
    expected = (2 * pi * 1000 * time[16000]).sin()
    torch.testing.assert_close(found[inner], expected[inner], rtol=0, atol=1e-3)
    assert resample(high, 44100, 16000)[inner].abs().max() < 1e-3


def test_a_tone_is_in_its_band():
    """Of 40 bands up to 8 kHz. A frame is 10 ms."""
    tone = (2 * pi * 1000 * torch.arange(16000) / 16000).sin()
    spectrogram = log_mel(tone, 16000, 40)
    assert spectrogram.shape == (101, 40)
    bands = mel_bands(16000, 400, 40)  # 40 Hz from one frequency to the next
    assert (spectrogram[10:-10].argmax(dim=1) == bands[1000 // 40].argmax()).all()


def write_wave(path: Path, data: bytes, width: int = 2, channels: int = 1) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, width, 8000, 0, "NONE", ""))
        file.writeframes(data)
    return path


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_wave_files_of_all_widths(width, tmp_path):
    """The mean of two channels: a half and 0, then -1 and 0."""
    top, zero = 2 ** (8 * width - 1), 2 ** (8 * width - 1) if width == 1 else 0
    numbers = [top // 2 + zero, zero, zero - top, zero]
    data = b"".join(n.to_bytes(width, "little", signed=width > 1) for n in numbers)
    path = write_wave(tmp_path / "sound.wav", data, width, channels=2)
    assert read_sound(path, 8000).tolist() == [0.25, -0.5]
    assert measure_sound(path) == 2 / 8000


def test_wave_files_that_are_wrong(tmp_path):
    whole = write_wave(tmp_path / "whole.wav", bytes(2000)).read_bytes()
    wrong = {"cut": whole[:-7], "text": b"no sound", "nothing": b""}
    write_wave(tmp_path / "silent.wav", b"")
    for name, data in wrong.items():
        (tmp_path / f"{name}.wav").write_bytes(data)
    said = {"cut": "cut off", "text": "RIFF", "nothing": "cut off", "silent": "no samples"}
    for name, message in said.items():
        for look in (measure_sound, lambda path: read_sound(path, 8000)):
            with pytest.raises(OSError, match=f"{name}.wav can't be read as WAV: .*{message}"):
                look(tmp_path / f"{name}.wav")


def test_every_run_has_the_same_split():
    """For any seed: otherwise one run would train on the test sounds of another."""
    seen = []
    for seed in (1, 2):
        set_seed(seed)
        parts = build_datasets(train.Config(**SETTINGS))
        seen.append([part[index][0] for part in parts for index in range(min(3, len(part)))])
    assert all(map(torch.equal, *seen))


def test_pictures_are_drawn(tmp_path):
    run(tmp_path, epochs=1, max_steps=1)
    [path] = tmp_path.glob("sounds_*.png")
    assert Image.open(path).width == 640
    assert class_names(train.Config()) == sorted(class_names(train.Config()))


def test_padding_changes_nothing():
    """A sound has the same logits for any amount and content of padding."""
    config = train.Config(**SETTINGS)
    model, seconds = build_model(config).eval(), min(0.33, 0.5 * config.seconds)
    frames, length = prepare(torch.randn(round(seconds * config.sample_rate)), config)
    assert length == round(100 * seconds) + 1 < len(frames) and not frames[length:].any()
    noise, lengths = frames.clone(), torch.tensor([length])
    noise[length:] = torch.randn_like(noise[length:])
    with torch.no_grad():
        alone, padded, noisy = (model(x[None], lengths) for x in (frames[:length], frames, noise))
    assert alone.shape == (1, len(class_names(config)))
    torch.testing.assert_close(padded, alone)
    torch.testing.assert_close(noisy, alone)


def test_long_sounds_are_cut_and_loudness_does_not_matter():
    config = train.Config(**SETTINGS)
    size = round(config.seconds * config.sample_rate)
    sound = torch.randn(size + 5000)
    frames, length = prepare(sound, config)
    assert length == len(frames)
    torch.testing.assert_close(prepare(sound[:size] / 9, config)[0], frames, rtol=0, atol=1e-4)


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
