
#: slot load_questions
@cache
def load_questions(config) -> list[list[Question]]:
    """The splits train, validation and test of a Hugging Face dataset.

    A missing split is replaced by a tenth of the texts of the training data.
    """
    name = config.dataset_name
    dataset = load_splits(config)
    parts = {
        part: [
            read_question(row, f"{name}, {part}, row {number}", config)
            for number, row in enumerate(dataset[part], start=1)
        ]
        for part in ("train", "validation", "test")
        if part in dataset
    }
    train_questions = parts["train"]
    for part in ("validation", "test"):
        if not parts.get(part):
            train_questions, parts[part] = split_questions(train_questions, [0.9, 0.1])
    return [train_questions, parts["validation"], parts["test"]]
