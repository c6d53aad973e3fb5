from hashlib import sha256
from io import BytesIO

from datasets import DatasetDict
from datasets import Image as ImageColumn

#: slot load_rows
@cache
def load_pictures(config) -> DatasetDict:
    """All splits of a dataset of Hugging Face, with images as undecoded files."""
    name, columns = config.dataset_name, config.pair_columns.split(",")
    splits = load_splits(config)
    found = splits["train"].features
    for column in columns:
        if column not in found:
            raise SystemExit(
                f"{name} has no column {column!r}, only {', '.join(found)}. Set --pair-columns."
            )
    if not isinstance(found[columns[0]], ImageColumn):
        raise SystemExit(f"The column {columns[0]!r} of {name} holds no images.")
    return splits.cast_column(columns[0], ImageColumn(decode=False))


@cache
def load_rows(config) -> list[list[Row]]:
    """The images of the splits train, validation (or dev) and test, each with one of its texts.

    A missing split is replaced by a tenth of the training images. Equal images are identified by
    the split and row of the first one.
    """
    places, parts = {}, {}
    for part, split in load_pictures(config).items():
        rows = parts[{"dev": "validation"}.get(part, part)] = []
        for row, texts in enumerate(split[config.pair_columns.split(",")[1]]):
            place = f"{config.dataset_name}, {part}, row {row + 1}"
            stored = read_stored((part, row), config)
            if find_problem(BytesIO(stored)):
                raise SystemExit(f"{place}: its image can't be read.")
            image = places.setdefault(sha256(stored).digest(), (part, row))
            for text in texts if isinstance(texts, list) else [texts]:
                if not isinstance(text, str) or not text.strip():
                    raise SystemExit(f"{place}: its text is not text, but {text!r:.60}.")
                rows.append((image, text))
    train_rows = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_rows, parts[part] = split_by_image(train_rows, [0.9, 0.1])
    return [train_rows, parts["validation"], parts["test"]]


def read_stored(image: tuple[str, int], config) -> bytes:
    """The file of an image, which is a row of a split. Empty: the row has none."""
    part, row = image
    stored = load_pictures(config)[part][row][config.pair_columns.split(",")[0]]
    if stored is None:
        return b""
    return stored["bytes"] or Path(stored["path"]).read_bytes()

#: replace pixels
pixels = read_image(BytesIO(read_stored(image, self.config)), self.config)
