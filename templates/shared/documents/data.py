#: when project.task=language_model|masked_language_model
import random
import sysconfig
from pathlib import Path

from lib.hub import complete_splits, load_splits
from lib.json_lines import read_objects

#: slot read_documents when dataset=huggingface
def read_documents(config) -> list[list[str]]:
    """The documents of the splits train, validation and test: each row that is not empty."""
    splits = complete_splits(load_splits(config))
    names = splits["train"].column_names
    if config.text_column not in names:
        raise SystemExit(
            f"{config.dataset_name} has no column {config.text_column}: "
            f"--text-column names one of {', '.join(names)}."
        )
    parts = []
    for name in ("train", "validation", "test"):
        texts = [text for text in splits[name][config.text_column] if text]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise SystemExit(
                f"{config.text_column} of the split {name} of {config.dataset_name} has no texts."
            )
        parts.append(texts)
    return parts

#: slot read_documents when dataset=stdlib
PACKAGES = [".", "asyncio", "concurrent/futures", "ctypes", "email", "http", "importlib"]
PACKAGES += ["json", "logging", "multiprocessing", "sqlite3", "unittest", "urllib", "wsgiref"]


def read_documents(config) -> list[list[str]]:
    """The smaller modules of Python's standard library, for training, validation and test.

    They differ slightly between Python versions.
    """
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(path for package in PACKAGES for path in (library / package).glob("[a-z]*.py"))
    # a fixed seed: another --seed must not move test documents into the training data
    random.Random(0).shuffle(paths)
    documents = [path.read_text(encoding="utf-8") for path in paths if path.stat().st_size < 9000]
    tenth = len(documents) // 10
    return [documents[2 * tenth :], documents[:tenth], documents[tenth : 2 * tenth]]

#: slot read_documents when dataset=text
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
    for name, part in zip(("training", "validation", "test"), parts, strict=True):
        if not any(part):
            raise SystemExit(f"The {name} data have no text: {config.path} is too short to be cut.")
    return parts


def read_texts(path: str, config) -> list[str]:
    """The texts of a file, of JSON lines, or of the .txt files of a folder, without empty ones."""
    read = read_column if path.endswith(".jsonl") else read_files
    if not (texts := [text for text in read(path, config) if text.strip()]):
        raise SystemExit(f"{path} has no texts.")
    return texts


def read_files(path: str, config) -> list[str]:
    """A text file, or the .txt files of a folder."""
    paths = sorted(Path(path).rglob("*.txt")) if Path(path).is_dir() else [Path(path)]
    if not paths:
        raise SystemExit(f"{path} holds no files that end in .txt.")
    texts = []
    for file in paths:
        try:
            texts.append(file.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            raise SystemExit(f"{file} can't be read: {error}") from error
    return texts


def read_column(path: str, config) -> list[str]:
    """The text of each JSON object, in a file with an object in each line."""
    texts, column = [], config.text_column
    for place, row in read_objects(path):
        if column not in row:
            raise SystemExit(
                f"{place}: there is no {column!r} in {', '.join(row)}. Set --text-column."
            )
        if not isinstance(row[column], str):
            raise SystemExit(f"{place}: its {column} is not text, but {row[column]!r:.60}.")
        texts.append(row[column])
    return texts
