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
            yield file
    except soundfile.LibsndfileError as error:
        raise OSError(f"{path} can't be read: {error.error_string}") from error
    except (EOFError, OSError, soundfile.SoundFileError) as error:
        raise OSError(f"{path} can't be read: {str(error) or 'it is cut off'}.") from error


def read_channels(path: Path) -> tuple[Tensor, int]:
    """The channels of a file, shape (samples, channels), from -1 to 1, and its rate in Hz."""
    with opened(path) as file:
        channels = torch.from_numpy(file.read(dtype="float32", always_2d=True))
        if len(channels) < file.frames:
            raise EOFError
        return channels, file.samplerate


def measure_sound(path: Path) -> float:
    """The seconds of a file, without reading all of it. Raises OSError as read_sound() does."""
    with opened(path) as file:
        file.seek(file.frames - 1)
        if not len(file.read(1)):
            raise EOFError
        return file.frames / file.samplerate
