#: file with sounds
"""Reads sound files, and computes log-mel spectrograms."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torch import Tensor

from lib.sounds import resample

#: slot reader


def find_sounds(folder: Path) -> list[Path]:
    """The sound files below a folder, in the order of their names. Hidden ones are left out."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix.lower() in {*SUFFIXES, *OTHERS})
    hidden = (".", "__MACOSX")  # as in .ipynb_checkpoints/
    paths = [p for p in paths if not any(n.startswith(hidden) for n in p.relative_to(folder).parts)]
    if others := [path for path in paths if path.suffix.lower() not in SUFFIXES]:
        raise SystemExit(f"{others[0]} can't be read: {HINT}")
    return paths


def read_sound(path: Path, rate: int) -> Tensor:
    """A sound as one channel of `rate` samples per second, shape (samples,), from -1 to 1.

    Raises OSError, with a message that names the file, if it is empty or can't be read.
    """
    channels, own_rate = read_channels(path)
    return resample(channels.mean(dim=1), own_rate, rate)


#: slot functions
#: end file

import wave

import soundfile
import torch
import torch.nn.functional as F

#: slot reader when reader=wave
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

#: slot reader when reader=soundfile
SUFFIXES = (".aif", ".aiff", ".flac", ".mp3", ".ogg", ".opus", ".wav", ".wave")
OTHERS = (".m4a", ".wma")  # known, but not read here
HINT = "convert it to WAV or FLAC."


@contextmanager
def opened(path: Path) -> Iterator[soundfile.SoundFile]:
    """A sound file. Raises OSError if it is empty or can't be read."""
    try:
        with soundfile.SoundFile(path) as file:
            if not file.frames:
                raise EOFError("it has no samples")
            if isinstance(path, Path) and is_cut_off(path):
                raise EOFError
            yield file
    except soundfile.LibsndfileError as error:
        lost = isinstance(path, Path) and not path.is_file()
        reason = "there is no such file." if lost else error.error_string
        raise OSError(f"{path} can't be read: {reason}") from error
    except (EOFError, OSError, soundfile.SoundFileError) as error:
        raise OSError(f"{path} can't be read: {str(error) or 'it is cut off'}.") from error


def is_cut_off(path: Path) -> bool:
    """Whether a WAV or AIFF file is shorter than its header says, which libsndfile ignores."""
    with path.open("rb") as file:
        head = file.read(8)
    size = int.from_bytes(head[4:], "big" if head.startswith(b"FORM") else "little")
    # a program that did not know the length, because it wrote to a pipe, wrote one of these
    streamed = size >= 2**32 - 256 or abs(size - 2**31) < 256
    known = head.startswith((b"RIFF", b"FORM")) and not streamed
    return known and size + 8 > path.stat().st_size + 1  # some leave out the last byte


def read_channels(path: Path) -> tuple[Tensor, int]:
    """The channels of a file, shape (samples, channels), from -1 to 1, and its rate in Hz."""
    with opened(path) as file:
        return read_finite(file), file.samplerate


def read_finite(file: soundfile.SoundFile) -> Tensor:
    """All samples of an open file, shape (samples, channels)."""
    channels = torch.from_numpy(file.read(dtype="float32", always_2d=True))
    if len(channels) < file.frames:
        raise EOFError
    if not channels.isfinite().all():
        raise OSError("it has samples that are not finite numbers")
    return channels


def measure_sound(path: Path) -> float:
    """The seconds of a file, without reading all of it. Raises OSError as read_sound() does."""
    with opened(path) as file:
        file.seek(file.frames - 1)
        if not len(file.read(1)):
            raise EOFError
        if file.subtype in ("FLOAT", "DOUBLE"):  # others have only finite samples
            file.seek(0)
            read_finite(file)
        return file.frames / file.samplerate
