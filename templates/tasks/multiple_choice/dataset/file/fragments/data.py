import csv
import json
from collections.abc import Iterator

#: slot load_questions
@cache
def load_questions(config) -> list[list[Question]]:
    """Questions for training, validation and test. A part without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_questions(read_questions(config.path), [1 - sum(shares), *shares])
    files = ["", *paths]
    return [read_questions(path) if path else part for path, part in zip(files, parts, strict=True)]


def read_questions(path: str) -> list[Question]:
    """The questions of a file, each with the place of the right choice."""
    questions = []
    for row, place in read_rows(path):
        question = read_question(row, place)
        if question.label < 0:
            raise SystemExit(f"{place}: it has no label, the place of the right choice.")
        questions.append(question)
    if not questions:
        raise SystemExit(f"{path} has no rows.")
    return questions


def read_rows(path: str) -> Iterator[tuple[dict, str]]:
    """The rows of a CSV file, or the objects of JSON lines, and where each one is."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            if path.endswith(".jsonl"):
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        place = f"{path}, line {number}"
                        try:
                            row = dict(json.loads(line))
                        except (ValueError, TypeError) as error:
                            raise SystemExit(f"{place} is not a JSON object: {error}") from error
                        yield row, place
            else:
                rows = csv.DictReader(file)
                for row in rows:
                    place = f"{path}, line {rows.line_num}"
                    if None in row or None in row.values():
                        raise SystemExit(f"{place}: it has not as many cells as the first line.")
                    yield row, place
    except (OSError, ValueError, csv.Error) as error:
        raise SystemExit(f"{path} can't be read: {error}") from error
