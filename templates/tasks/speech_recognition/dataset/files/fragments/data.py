from pathlib import Path

from audio import measure_sound, read_sound

#: replace checked
settings = columns, Path(path).parent, config
rows = [check_sound(row, place, *settings) for place, row in found]

#: slot check_row
def check_sound(row, place: str, columns: list[str], folder: Path, config) -> Row:
    """A row whose sound is in this folder or below. `place` is for error messages."""
    if len(columns) != 2:
        raise SystemExit("--sound-columns needs the names of two columns, as in file,text.")
    name, text = check_row(row, columns, place)
    sound, clip = folder / name, folder / "clips" / name
    if clip.is_file() and not sound.exists():  # Common Voice leaves the folder out
        sound = clip
    try:
        seconds = measure_sound(sound)
    except OSError as error:
        raise SystemExit(f"{place}: {error}") from error
    return Row(sound, check_text(text, seconds, place, config), seconds)

#: slot load_sound
def load_sound(row: Row, rate: int) -> Tensor:
    """The sound of a row, shape (samples,), from -1 to 1."""
    return read_sound(row.sound, rate)
