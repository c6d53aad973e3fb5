from io import BytesIO
from pathlib import Path

from audio import measure_sound, read_sound
from datasets import Audio

#: slot load_rows
@cache
def load_rows(config) -> list[list[Row]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A missing split is replaced by a tenth of the training data.
    """
    name, columns = config.dataset_name, config.sound_columns.split(",")
    dataset = load_splits(config)
    for column in columns:
        if column not in dataset["train"].features:
            known = ", ".join(dataset["train"].features)
            raise SystemExit(
                f"{name!r} has no column {column!r}, only {known}. Set --sound-columns."
            )
    dataset = dataset.cast_column(columns[0], Audio(decode=False))
    parts = {}
    for part in ("train", "validation", "test"):
        rows = dataset.get(part, [])
        parts[part] = [
            check_sound(rows, number, f"{name}, {part}, row {number + 1}", columns, config)
            for number in range(len(rows))
        ]
    for part in ("validation", "test"):
        if not parts[part]:
            parts["train"], parts[part] = split_rows(parts["train"], [0.9, 0.1])
    return list(parts.values())

#: slot check_row
def check_sound(rows, number: int, place: str, columns: list[str], config) -> Row:
    """A row of the dataset. `place` is for error messages."""
    if len(columns) != 2:
        raise SystemExit("--sound-columns needs the names of two columns, as in file,text.")
    [text] = check_row(rows[number], columns[1:], place)
    sound = rows, number, columns[0]
    try:
        seconds = measure_sound(open_sound(*sound))
    except OSError as error:
        reason = str(error).partition("can't be read: ")[2] or error
        raise SystemExit(f"{place}: its sound can't be read: {reason}") from error
    return Row(sound, check_text(text, seconds, place, config), seconds)


def open_sound(rows, number: int, column: str) -> BytesIO:
    """The bytes of a sound, which are in the dataset or in a file of it."""
    cell = rows[number][column]
    return BytesIO(cell["bytes"] or Path(cell["path"]).read_bytes())

#: slot load_sound
def load_sound(row: Row, rate: int) -> Tensor:
    """The sound of a row, shape (samples,), from -1 to 1."""
    return read_sound(open_sound(*row.sound), rate)
