import soundfile

#: slot reader
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
    streamed = size >= 2**32 - 256  # a program that did not know the length wrote this
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
