import wave
from pathlib import Path

import pytest
import torch
from audio import measure_sound, read_sound

#: slot tests
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
