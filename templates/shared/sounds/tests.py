import wave
from math import pi
from pathlib import Path

import gradio as gr
import pytest
import soundfile
import torch

from audio import measure_sound, read_sound
from lib.sounds import log_mel, mel_bands, resample

#: into tests/test_app.py with sounds
#: slot values
with wave.open(str(tmp_path / "sound.wav"), "wb") as file:
    file.setparams((1, 2, 8000, 0, "NONE", ""))
    file.writeframes(bytes(range(250)) * 20)
(tmp_path / "text.wav").write_text("not a sound")
with pytest.raises(gr.Error, match="^.text.wav can't be read"):
    page.fn(str(tmp_path / "text.wav"))
with pytest.raises(gr.Error, match="Choose a sound first"):
    page.fn(None)
values = [str(tmp_path / "sound.wav")]

#: into tests/test_features.py with sounds
#: slot tests
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

#: slot tests when reader=wave
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

#: slot tests when reader=soundfile
@pytest.mark.parametrize("name", ["sound.flac", "sound.wav"])
def test_sound_files(name, tmp_path):
    """The mean of two channels, and the seconds of the file."""
    channels = torch.tensor([[0.5, 0.0], [-1.0, 0.0]])
    soundfile.write(tmp_path / name, channels.numpy(), 8000)
    assert read_sound(tmp_path / name, 8000).tolist() == [0.25, -0.5]
    assert measure_sound(tmp_path / name) == 2 / 8000


def test_sound_files_that_are_wrong(tmp_path):
    (tmp_path / "text.flac").write_text("no sound")
    soundfile.write(tmp_path / "silent.wav", torch.zeros(0, 1).numpy(), 8000)
    soundfile.write(tmp_path / "nan.wav", torch.tensor([0, torch.nan]).numpy(), 8000, "FLOAT")
    for name in ("cut.wav", "cut.aiff"):
        soundfile.write(tmp_path / name, torch.rand(800).numpy(), 8000)
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    faults = {"text.flac": "", "silent.wav": "no samples", "lost.wav": "no such file"}
    faults |= {"cut.wav": "cut off", "cut.aiff": "cut off", "nan.wav": "not finite"}
    for name, message in faults.items():
        for look in (measure_sound, lambda path: read_sound(path, 8000)):
            with pytest.raises(OSError, match=f"{name} can't be read: .*{message}"):
                look(tmp_path / name)

#: into tests/test_predict.py with sounds
#: slot functions
def predict_sounds(config, model, sounds) -> list[dict]:
    """Predict samples of the data instead of files."""
    with mock.patch.object(predict, "load_sound", lambda sound, _: sound):
        return predict.predict(config, model, sounds)
