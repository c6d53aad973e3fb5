#: into audio.py at functions
"""Reads sound files, and computes log-mel spectrograms."""

from functools import cache
from math import log10

import soxr
import torch
from torch import Tensor


def resample(sound: Tensor, old_rate: int, new_rate: int) -> Tensor:
    """The sound at another sampling rate.

    Frequencies that the new rate can't represent are filtered out, to avoid aliasing.
    """
    if new_rate == old_rate:
        return sound
    return torch.from_numpy(soxr.resample(sound.numpy(), old_rate, new_rate))


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
