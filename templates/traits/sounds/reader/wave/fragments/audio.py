import wave

import torch.nn.functional as F

#: slot reader
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
            yield file
    except (EOFError, OSError, wave.Error) as error:
        reason = str(error) or "it is cut off"
        # floats, and before Python 3.12 the header that most programs write for 24 bits
        hint = f" {HINT.capitalize()}" if "unknown format" in reason else ""
        raise OSError(f"{path} can't be read as WAV: {reason}.{hint}") from error


def read_channels(path: Path) -> tuple[Tensor, int]:
    """The channels of a file, shape (samples, channels), from -1 to 1, and its rate in Hz."""
    with opened(path) as file:
        width, channels, samples = file.getsampwidth(), file.getnchannels(), file.getnframes()
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
        samples = file.getnframes()
        file.setpos(samples - 1)
        if not file.readframes(1):
            raise EOFError
        return samples / file.getframerate()
