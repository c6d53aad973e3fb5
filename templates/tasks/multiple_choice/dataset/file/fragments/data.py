#: slot load_questions
@cache
def load_questions(config) -> list[list[Question]]:
    """Questions for training, validation and test. A split without a file is a tenth of `path`."""
    paths = [config.val_path, config.test_path]
    shares = [0.0 if path else 0.1 for path in paths]
    parts = split_rows(read_questions(config.path), [1 - sum(shares), *shares])
    files = ["", *paths]
    return [read_questions(path) if path else part for path, part in zip(files, parts, strict=True)]


def read_questions(path: str) -> list[Question]:
    """The questions of a file, each with the index of the right choice."""
    questions = []
    for place, row in read_objects(path) if path.endswith(".jsonl") else read_table(path):
        question = read_question(row, place)
        if question.label < 0:
            raise SystemExit(f"{place}: it has no label, the index of the right choice.")
        questions.append(question)
    if not questions:
        raise SystemExit(f"{path} has no rows.")
    return questions
