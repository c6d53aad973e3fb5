from datasets import load_dataset
from datasets.exceptions import DatasetsError

#: slot read_documents
def read_documents(config) -> list[list[str]]:
    """The documents of the splits train, validation and test: each row that is not empty."""
    try:
        splits = load_dataset(config.dataset_name, config.dataset_subset or None)
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:  # or no network
        reason = error.__cause__ or error
        raise SystemExit(
            f"--dataset-name {config.dataset_name} can't be loaded: {reason}"
        ) from error
    if "train" not in splits:
        raise SystemExit(f"{config.dataset_name} has no split train, only {', '.join(splits)}.")
    names = splits["train"].column_names
    if config.text_column not in names:
        raise SystemExit(
            f"{config.dataset_name} has no column {config.text_column}: "
            f"--text-column names one of {', '.join(names)}."
        )
    for name in ("validation", "test"):
        if name not in splits:  # a tenth of the training data takes its place
            parts = splits["train"].train_test_split(0.1, seed=0)
            splits["train"], splits[name] = parts["train"], parts["test"]
    columns = [splits[name][config.text_column] for name in ("train", "validation", "test")]
    return [[text for text in column if text] for column in columns]
