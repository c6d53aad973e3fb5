from datasets import load_dataset
from datasets.exceptions import DatasetsError

#: slot load_pairs
def load_pairs(config) -> list[list[tuple[str, str]]]:
    """The splits train, validation and test of a dataset of Hugging Face."""
    name = config.dataset_name
    try:
        splits = load_dataset(name, config.dataset_subset or None)
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:  # or no network
        reason = error.__cause__ or error
        raise SystemExit(f"--dataset-name {name} can't be loaded: {reason}") from error
    if "train" not in splits:
        raise SystemExit(f"{name} has no split train, only {', '.join(splits)}.")
    for part in ("validation", "test"):
        if part not in splits:  # a tenth of the training data takes its place
            parts = splits["train"].train_test_split(0.1, seed=0)
            splits["train"], splits[part] = parts["train"], parts["test"]
    names = (config.source_column, config.target_column)
    return [
        list(zip(*(read_column(splits[part], name) for name in names), strict=True))
        for part in ("train", "validation", "test")
    ]


def read_column(rows, name: str) -> list[str]:
    """The texts of a column. A dot leads into it: `translation.en`."""
    column, *inner = name.split(".")
    if column not in rows.column_names:
        raise SystemExit(
            f"The dataset has no column {column!r}: it has {', '.join(rows.column_names)}. "
            "Set --source-column and --target-column."
        )
    texts = rows[column]
    for key in inner:
        texts = [text.get(key) if isinstance(text, dict) else None for text in texts]
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise SystemExit(f"Row {number} of {name} is {text!r}, which is not text.")
    return list(texts)
