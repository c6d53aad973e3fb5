import random
from pathlib import Path

#: slot read_documents
def read_documents(config) -> list[list[str]]:
    """The text files below the path, each a document, for training, validation and test."""
    paths = sorted(Path(config.path).rglob("*.txt"))
    if len(paths) < 3:
        raise SystemExit(
            f"--path {config.path} holds {len(paths)} files that end in .txt: at least 3 are "
            "needed. Cut a long text into chapters."
        )
    # a seed of its own: another --seed must not move test documents into the training data
    random.Random(0).shuffle(paths)
    documents = [read_text(path) for path in paths]
    tenth = max(1, len(documents) // 10)
    return [documents[2 * tenth :], documents[:tenth], documents[tenth : 2 * tenth]]


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SystemExit(f"{path} is not UTF-8: {error}") from error
