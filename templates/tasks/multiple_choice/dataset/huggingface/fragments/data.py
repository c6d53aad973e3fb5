from datasets import load_dataset
from datasets.exceptions import DatasetsError

#: slot load_questions
@cache
def load_questions(config) -> list[list[Question]]:
    """The splits train, validation and test of a dataset of Hugging Face.

    A tenth of the training data replaces a split that is missing, or has no labels, as that of SWAG
    for the test.
    """
    name = config.dataset_name
    try:
        dataset = load_dataset(name, config.dataset_subset or None)
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:  # or no network
        reason = error.__cause__ or error
        raise SystemExit(f"The dataset {name!r} can't be loaded: {reason}") from error
    if "train" not in dataset:
        raise SystemExit(f"The dataset {name!r} has no split 'train', only {', '.join(dataset)}.")
    parts = {}
    for part in ("train", "validation", "test"):
        rows = enumerate(dataset.get(part, []), start=1)
        questions = [read_question(row, f"{name}, {part}, row {number}") for number, row in rows]
        parts[part] = [question for question in questions if question.label >= 0]
    for part in ("validation", "test"):
        if not parts[part]:
            parts["train"], parts[part] = split_questions(parts["train"], [0.9, 0.1])
    return list(parts.values())
