"""Reads sound files, and computes log-mel spectrograms."""

import wave
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import log10
from pathlib import Path

import soxr
import torch
import torch.nn.functional as F
from torch import Tensor

SUFFIXES = (".wav", ".wave")
OTHERS = (".aif", ".aiff", ".flac", ".m4a", ".mp3", ".ogg", ".opus")  # known, but not read here
HINT = "choose soundfile as the reader, or convert it to WAV."


@contextmanager
def opened(path: Path) -> Iterator[wave.Wave_read]:
    """A WAV file with integer samples. Raises OSError if it is empty or can't be read."""
    try:
        with wave.open(str(path)) as file:
            if not file.getnframes():
                raise EOFError("it has no samples")
            if not file.getframerate():
                raise EOFError("its sampling rate is 0")
            yield file
    except (EOFError, OSError, wave.Error) as error:
        reason = str(error) or "it is cut off"
        # floats, and before Python 3.12 the header that most programs write for 24 bits
        hint = f" {HINT.capitalize()}" if "unknown format" in reason else ""
        raise OSError(f"{path} can't be read as WAV: {reason}.{hint}") from error


def count_samples(file: wave.Wave_read) -> int:
    """The samples of each channel. A program that wrote to a pipe did not know their number."""
    samples, size = file.getnframes(), file.getsampwidth() * file.getnchannels()
    if samples * size < 2**31 - 2**16:
        return samples
    samples = len(file.readframes(samples)) // size
    file.rewind()
    return samples


def read_channels(path: Path) -> tuple[Tensor, int]:
    """The channels of a file, shape (samples, channels), from -1 to 1, and its rate in Hz."""
    with opened(path) as file:
        width, channels, samples = file.getsampwidth(), file.getnchannels(), count_samples(file)
        data = bytearray(file.readframes(samples))
        if len(data) < samples * channels * width:
            raise EOFError
        rate = file.getframerate()
    numbers = torch.frombuffer(data, dtype=torch.uint8).view(-1, width)
    if width == 1:
        numbers ^= 128  # 8-bit samples are unsigned in WAV
    # the samples as the high bytes of 32-bit integers
    whole = F.pad(numbers, (4 - width, 0)).view(torch.int32)
    return whole.view(-1, channels) / 2**31, rate


def measure_sound(path: Path) -> float:
    """The seconds of a file, without reading all of it. Raises OSError as read_sound() does."""
    with opened(path) as file:
        samples = count_samples(file)
        file.setpos(samples - 1)
        if len(file.readframes(1)) < file.getsampwidth() * file.getnchannels():
            raise EOFError
        return samples / file.getframerate()


def find_sounds(folder: Path) -> list[Path]:
    """The sound files below a folder, in the order of their names. Hidden ones are left out."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in {*SUFFIXES, *OTHERS})
    hidden = (".", "__MACOSX")  # as in .ipynb_checkpoints/
    paths = [p for p in paths if not any(n.startswith(hidden) for n in p.relative_to(folder).parts)]
    if others := [path for path in paths if path.suffix.lower() not in SUFFIXES]:
        raise SystemExit(f"{others[0]} can't be read: {HINT}")
    return paths


def resample(sound: Tensor, old_rate: int, new_rate: int) -> Tensor:
    """The sound at another sampling rate.

    Frequencies that the new rate can't represent are filtered out, to avoid aliasing.
    """
    if new_rate == old_rate:
        return sound
    return torch.from_numpy(soxr.resample(sound.numpy(), old_rate, new_rate))


def read_sound(path: Path, rate: int) -> Tensor:
    """A sound as one channel of `rate` samples per second, shape (samples,), from -1 to 1.

    Raises OSError, with a message that names the file, if it is empty or can't be read.
    """
    channels, own_rate = read_channels(path)
    return resample(channels.mean(dim=1), own_rate, rate)


def log_mel(sound: Tensor, rate: int, mels: int) -> Tensor:
    """The log-mel spectrogram of a sound, shape (frames, mels), with 100 frames per second.

    A frame is the logarithm of the energy in each band, in a window of 25 ms.
    """
    window = torch.hann_window(round(0.025 * rate))
    spectrum = torch.stft(
        sound,
        n_fft=len(window),
        hop_length=round(0.01 * rate),
        window=window,
        pad_mode="constant",
        return_complex=True,
    )
    energy = spectrum.abs().square().T @ mel_bands(rate, len(window), mels)
    return energy.clamp(min=1e-10).log()


def normalize(spectrogram: Tensor) -> Tensor:
    """Scale to mean 0 and standard deviation 1, however loud the sound is."""
    return (spectrogram - spectrogram.mean()) / (spectrogram.std() + 1e-5)


@cache
def mel_bands(rate: int, size: int, mels: int) -> Tensor:
    """The weight of each frequency of a window in each band, shape (size // 2 + 1, mels).

    Bands are triangles from the center of the previous band to the center of the next, and the
    centers are equally spaced in mel: 2595 log10(1 + Hz / 700), O'Shaughnessy 1987.
    """
    top = 2595 * log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** (torch.linspace(0, top, mels + 2) / 2595) - 1)
    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    frequencies = torch.linspace(0, rate / 2, size // 2 + 1).unsqueeze(1)
    rise, fall = (frequencies - left) / (middle - left), (right - frequencies) / (right - middle)
    return torch.minimum(rise, fall).clamp(min=0)
