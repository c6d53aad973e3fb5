import json
from pathlib import Path

#: slot load_questions
@cache
def load_questions(config) -> list[list[Question]]:
    """Questions for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_questions(read_questions(config.path, config), [1 - sum(shares), *shares])
    files = ["", *paths]
    return [
        read_questions(path, config) if path else part
        for path, part in zip(files, parts, strict=True)
    ]


def read_questions(path: str, config) -> list[Question]:
    """The questions of a SQuAD file, or of JSON lines if it ends in .jsonl."""
    rows = read_objects(path) if path.endswith(".jsonl") else read_articles(path)
    if not (questions := [read_question(row, place, config) for place, row in rows]):
        raise SystemExit(f"{path} has no questions.")
    return questions


def read_articles(path: str) -> list[tuple[str, dict]]:
    """The questions of a SQuAD 1 or 2 file with their texts, and where each one is."""
    rows, place = [], path
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
    try:
        whole = json.loads(text)
        if not isinstance(whole, dict):
            raise SystemExit(f"{path} is not a JSON object with 'data', as SQuAD has it.")
        for article, entry in enumerate(whole["data"]):
            place = f"{path}, data[{article}]"
            for number, paragraph in enumerate(entry["paragraphs"]):
                place = f"{path}, data[{article}].paragraphs[{number}]"
                for index, row in enumerate(paragraph["qas"]):
                    place = f"{path}, data[{article}].paragraphs[{number}].qas[{index}]"
                    rows.append((place, {"context": paragraph["context"], **row}))
    except KeyError as error:
        raise SystemExit(f"{place}: there is no {error}, as in SQuAD.") from error
    except (TypeError, ValueError) as error:
        raise SystemExit(f"{place} is not JSON in SQuAD's format: {error}") from error
    return rows
