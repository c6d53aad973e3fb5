
#: slot load_questions
@cache
def load_questions(config) -> list[list[Question]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A split that is missing or has no labels, such as SWAG's test split, is replaced by a tenth of
    the training data.
    """
    name = config.dataset_name
    dataset = load_splits(config)
    parts = {}
    for part in ("train", "validation", "test"):
        rows = enumerate(dataset.get(part, []), start=1)
        questions = [read_question(row, f"{name}, {part}, row {number}") for number, row in rows]
        parts[part] = [question for question in questions if question.label >= 0]
    for part in ("validation", "test"):
        if not parts[part]:
            parts["train"], parts[part] = split_rows(parts["train"], [0.9, 0.1])
    return list(parts.values())
