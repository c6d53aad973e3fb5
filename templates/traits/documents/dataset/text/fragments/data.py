import random
from pathlib import Path

#: slot read_documents
def read_documents(config) -> list[list[str]]:
    """Texts for training, validation and test: those of a folder, or parts of one file."""
    texts = read_texts(config.path, config)
    if len(texts) < 3:  # each text is cut: 90 % for training, 5 % for validation, 5 % for the test
        cuts = [(0.0, 0.9), (0.9, 0.95), (0.95, 1.0)]
        parts = [[text[int(a * len(text)) : int(b * len(text))] for text in texts] for a, b in cuts]
    else:
        # a fixed seed: another --seed must not move test documents into the training data
        random.Random(0).shuffle(texts)
        tenth = max(1, len(texts) // 10)
        parts = [texts[2 * tenth :], texts[:tenth], texts[tenth : 2 * tenth]]
    for part, path in ((1, config.val_path), (2, config.test_path)):
        if path:  # all of config.path is for training
            parts[0] += parts[part]
            parts[part] = read_texts(path, config)
    return parts


def read_texts(path: str, config) -> list[str]:
    """The texts of a text file, of JSON lines, or of the .txt files of a folder."""
    if path.endswith(".jsonl"):
        return read_column(path, config.text_column)
    paths = sorted(Path(path).rglob("*.txt")) if Path(path).is_dir() else [Path(path)]
    if not paths:
        raise SystemExit(f"{path} holds no files that end in .txt.")
    try:
        return [file.read_text(encoding="utf-8-sig") for file in paths]
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error


def read_column(path: str, column: str) -> list[str]:
    """The non-empty texts of a file with a JSON object in each line."""
    texts = []
    for place, row in read_objects(path):
        if not isinstance(row.get(column), str):
            raise SystemExit(
                f"{place}: {column!r} is not text in {', '.join(row)}. Set --text-column."
            )
        texts.append(row[column])
    if not texts:
        raise SystemExit(f"{path} has no texts.")
    return [text for text in texts if text]
