from datasets import load_dataset
from datasets.exceptions import DatasetsError

#: slot load_questions
@cache
def load_questions(config) -> list[list[Question]]:
    """The splits train, validation and test of a dataset of Hugging Face.

    A tenth of the texts of the training data replaces a split that is missing.
    """
    name = config.dataset_name
    try:
        dataset = load_dataset(name, config.dataset_subset or None)
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:  # or no network
        reason = error.__cause__ or error
        raise SystemExit(f"The dataset {name!r} can't be loaded: {reason}") from error
    if "train" not in dataset:
        raise SystemExit(f"The dataset {name!r} has no split 'train', only {', '.join(dataset)}.")
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
